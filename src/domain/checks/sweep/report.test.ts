import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SweepCounter } from './report.ts';

test('A report counts late, slow and missed probes since the last one', () => {
  const counter = new SweepCounter();
  const probe = { check: 'web', fault: null, lateMs: 10, tookMs: 5, intervalMs: 1_000, isMissed: false };
  counter.note(probe);
  counter.note({ ...probe, lateMs: 500 });
  counter.note({ ...probe, lateMs: 4_999.6, tookMs: 10_000, intervalMs: 60_000, isMissed: true });
  counter.note({ ...probe, tookMs: 1_001 });
  assert.deepEqual(counter.take(3), {
    targets: 3,
    probes: 4,
    late: 1,
    longestLateMs: 5_000,
    slow: 1,
    missed: 1,
    faults: 0,
    faulty: [],
  });
  assert.deepEqual(counter.take(2), {
    targets: 2,
    probes: 0,
    late: 0,
    longestLateMs: 0,
    slow: 0,
    missed: 0,
    faults: 0,
    faulty: [],
  });
});
