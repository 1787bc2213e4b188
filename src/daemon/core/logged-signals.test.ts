import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Failure } from '../../domain/failure.ts';
import type { Log } from '../../lib/log.ts';
import { loggedSignals } from './logged-signals.ts';

function logged(now: { ms: number }) {
  const lines: string[] = [];
  const level =
    (word: string) =>
    (_facts: object, text: string): void =>
      void lines.push(`${word} ${text}`);
  const log = { info: level('info'), warn: level('warn'), error: level('error') } as unknown as Log;
  return { lines, signals: loggedSignals(log, { monotonic: () => now.ms }) };
}

test('a lost database is one line, then one each minute, and one when it is back', () => {
  const now = { ms: 0 };
  const { lines, signals } = logged(now);
  const lost = new Failure('unavailable', 'The store cannot be reached.');
  const fail = () => signals.emit('loop:failed', { name: 'claim', error: lost });
  for (now.ms = 0; now.ms < 120_000; now.ms += 500) fail();
  assert.deepEqual(lines, Array(2).fill('error the database cannot be used; trying again'));
  signals.emit('loop:recovered', { name: 'claim' });
  signals.emit('loop:recovered', { name: 'page' });
  assert.deepEqual(lines.slice(2), ['info the database can be used again']);
  fail();
  signals.emit('loop:failed', { name: 'claim', error: new Error('a fault') });
  assert.deepEqual(lines.slice(3), ['error the database cannot be used; trying again', 'error pass failed']);
});

test('a failed job is a warning, and a good one is not', () => {
  const { lines, signals } = logged({ ms: 0 });
  for (const state of ['failed', 'interrupted', 'succeeded', 'degraded', 'cancelled'] as const)
    signals.emit('job:finished', { jobId: 'job_1', state, exitCode: null });
  assert.deepEqual(
    lines,
    ['warn', 'warn', 'info', 'info', 'info'].map((word) => `${word} job finished`),
  );
});
