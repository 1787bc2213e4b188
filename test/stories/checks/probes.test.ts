/** Probes as the service makes them, in a separate network. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import type { NamespaceFindings } from '../../support/network/namespace-story.ts';
import { tellStory } from '../../support/network/tell-story.ts';
import { needs } from '../../support/tools.ts';

const STORY = join(import.meta.dirname, '..', '..', 'support', 'network', 'namespace-story.ts');

describe('In a separate network, probes', { skip: needs('network namespaces') }, () => {
  let found: NamespaceFindings;
  before(async () => {
    found = (await tellStory(STORY)) as NamespaceFindings;
  });

  test('T40: reach private addresses by literal and by name, and refuse loopback', () => {
    assert.deepEqual(found.reached, {
      tcp: 'ok',
      mapped: 'ok',
      six: 'ok',
      closed: 'refused',
      noWay: 'unreachable',
      loopback: 'forbidden_address',
      http: 'ok',
      searched: 'ok',
      second: 'ok',
      dns: 'ok',
      unknown: 'no_such_name',
    });
  });

  test('send echo requests by a socket where the kernel grants one', () => {
    assert.deepEqual(found.ping, { four: 'ok', six: 'ok', noWay: 'unreachable', loopback: 'forbidden_address' });
  });

  test('send echo requests by the program ping elsewhere', { skip: needs('ping') }, () => {
    assert.deepEqual(found.pingByProgram, { four: 'ok', six: 'ok', noWay: 'unreachable' });
  });

  test('find nothing about a target where this machine can send no echo request', () => {
    assert.equal(found.pingByNeither, 'not_implemented');
  });
});
