import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exitCodeOfHosts, shellWord, streamBytesMax } from './hosts.ts';

test('The exit code of a command on hosts is the highest, and 255 where one was not reached', () => {
  const ok = { status: 'ok', rc: 0 } as const;
  const stopped = { status: 'failed', rc: null } as const;
  assert.equal(exitCodeOfHosts([ok, ok]), 0);
  assert.equal(exitCodeOfHosts([ok, { status: 'failed', rc: 3 }, { status: 'failed', rc: 1 }]), 3);
  assert.equal(exitCodeOfHosts([{ status: 'unreachable', rc: null }, ok]), 255);
  assert.equal(exitCodeOfHosts([stopped, ok]), 0);
  assert.equal(exitCodeOfHosts([stopped]), null);
});

test('T14: A word for a POSIX shell is one word, whatever it holds', () => {
  assert.equal(shellWord('a b'), "'a b'");
  assert.equal(shellWord("it's"), String.raw`'it'\''s'`);
  assert.equal(shellWord(''), "''");
});

test('The results of all hosts together are bounded', () => {
  assert.equal(streamBytesMax(1), 1024 * 1024);
  assert.ok(streamBytesMax(10_000) * 2 * 10_000 <= 32 * 1024 * 1024);
});
