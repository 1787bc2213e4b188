import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HostOutput } from '../../../src/runners/command/host-output.ts';
import { heldMib } from '../../support/measure/held-memory.ts';

const BYTES_MAX = 1024 * 1024;

test('T97: output of a host that comes byte by byte takes no more memory than its bytes', () => {
  const output = new HostOutput('web1', BYTES_MAX);
  const before = heldMib();
  for (let at = 0; at < BYTES_MAX; at += 1) output.sifts.stdout.push(Buffer.from('x'));
  assert.ok(heldMib() - before < 4, `holds ${heldMib() - before} MiB`);
  assert.equal(output.stdout.length, BYTES_MAX);
});
