import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mayStart, startProblem, STARTS_WITHIN_MS } from './new-program.ts';

const SINCE = 1_000_000;
const HERE = { host: 'web1', bootId: 'boot', isRunning: (pid: number) => pid === 7 };
const program = { host: 'web1', boot_id: 'boot', pid: 7, finished_at: SINCE };

test('a new program that starts is no problem until it takes longer than any start', () => {
  assert.equal(startProblem(program, HERE, SINCE + STARTS_WITHIN_MS - 1), null);
  const late = startProblem(program, HERE, SINCE + STARTS_WITHIN_MS);
  assert.equal(late?.hasEnded, false);
  assert.match(late?.words ?? '', /has not started yet; if it does not, its error is in the log/);
  assert.equal(startProblem({ ...program, finished_at: null }, HERE, SINCE)?.hasEnded, false, 'of an earlier build');
});

test('one whose process is gone has ended, which only its machine and boot can tell', () => {
  const gone = { ...program, pid: 8 };
  assert.equal(startProblem(gone, HERE, SINCE)?.hasEnded, true);
  for (const other of [{ host: 'web2' }, { boot_id: 'later' }]) {
    assert.equal(startProblem({ ...gone, ...other }, HERE, SINCE), null);
    assert.equal(startProblem({ ...gone, ...other }, HERE, SINCE + STARTS_WITHIN_MS)?.hasEnded, false);
  }
});

test('one may still start while its process runs, and on another machine as long as a start takes', () => {
  const late = SINCE + STARTS_WITHIN_MS;
  assert.equal(mayStart(program, HERE, late), true);
  assert.equal(mayStart({ ...program, pid: 8 }, HERE, SINCE), false);
  const away = { ...program, host: 'web2' };
  assert.deepEqual([mayStart(away, HERE, late - 1), mayStart(away, HERE, late)], [true, false]);
});
