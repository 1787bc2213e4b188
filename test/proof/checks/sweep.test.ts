/** The sweep of a real daemon, in a separate network. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import type { SweepFindings } from '../../support/checks/sweep-story.ts';
import { tellStory } from '../../support/network/tell-story.ts';
import { needs } from '../../support/tools.ts';

const STORY = join(import.meta.dirname, '..', '..', 'support', 'checks', 'sweep-story.ts');

describe('In a separate network, the sweep', { skip: needs('network namespaces') }, () => {
  let found: SweepFindings;
  before(async () => {
    found = (await tellStory(STORY)) as SweepFindings;
  });

  test('sees that a port closed after three probes, and a rule runs a command', () => {
    const { eventMs, job, outcome } = found.flip;
    assert.deepEqual([job, outcome, found.netgroup], ['succeeded', 'fired', 'away']);
    // Two intervals at least lie between three probes; how busy the machine is comes to three at most.
    assert.ok(eventMs >= 2_000 && eventMs < 10_000, `${eventMs} ms`);
  });

  test('F22: probes thousands of targets, and after SIGKILL amid their failure each has one event', () => {
    const { up, firing, distinct, errors } = found.many;
    assert.deepEqual([up, firing, distinct, errors], [2_000, 2_000, 2_000, 0]);
  });

  test('shows Prometheus its targets', () => {
    assert.match(found.metrics[0] ?? '', /^gatehouse_check_up\{check="many",target="t\d+"\} 1$/);
  });
});
