import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exitCodeOfHosts, streamBytesMax } from './hosts.ts';

test('The exit code of a command on hosts is the highest, and 255 where one was not reached', () => {
  const ok = { status: 'ok', rc: 0 } as const;
  const stopped = { status: 'failed', rc: null } as const;
  assert.equal(exitCodeOfHosts([ok, ok]), 0);
  assert.equal(exitCodeOfHosts([ok, { status: 'failed', rc: 3 }, { status: 'failed', rc: 1 }]), 3);
  assert.equal(exitCodeOfHosts([{ status: 'unreachable', rc: null }, ok]), 255);
  assert.equal(exitCodeOfHosts([stopped, ok]), 0);
  assert.equal(exitCodeOfHosts([stopped]), null);
});

test('The results of all hosts together are bounded', () => {
  assert.equal(streamBytesMax(1), 1024 * 1024);
  assert.ok(streamBytesMax(10_000) * 2 * 10_000 <= 32 * 1024 * 1024);
});
