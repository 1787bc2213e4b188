import assert from 'node:assert/strict';
import { test } from 'node:test';
import { becameOf } from './became.ts';

const NOW = Date.UTC(2026, 10, 28, 12);
const at = (minutes: number): string => new Date(NOW + minutes * 60_000).toISOString();
const JOB = {
  id: 'job_1',
  runbook: 'rule:clean',
  state: 'failed',
  created_at: at(-9),
  started_at: at(-5),
  finished_at: at(-3),
  reason: 'exit code 2',
} as const;
const APPROVAL = { state: 'pending', expires_at: at(24), decided_at: null, decided_by: null, reason: null } as const;

test('What became of an event is its decision and its job, and nothing where it asked for nothing', () => {
  assert.equal(becameOf({ approval: null, job: null }, NOW), null);
  assert.equal(becameOf({ approval: APPROVAL, job: JOB }, NOW), 'It waits for an approval, which expires in 24m.');
  const yes = { ...APPROVAL, state: 'approved', decided_at: at(-6), decided_by: 'ana', reason: 'seen' } as const;
  assert.equal(
    becameOf({ approval: yes, job: JOB }, NOW),
    'It was approved 6m ago by ana: seen. Its job job_1 (rule:clean) is failed, 3m ago: exit code 2.',
  );
  const no = { ...yes, state: 'rejected' } as const;
  assert.equal(becameOf({ approval: no, job: JOB }, NOW), 'It was rejected 6m ago by ana: seen.');
  const late = { ...APPROVAL, state: 'expired', decided_at: at(-2) } as const;
  assert.equal(becameOf({ approval: late, job: null }, NOW), 'No one decided in time: it expired 2m ago.');
});
