import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkWorkflows, type WorkflowHistory } from '../../night/chaos/workflow-checker.ts';

const plain = { when: null, approval: 'none', approvalTtlMs: null, action: null } as const;
const definition = [
  { ...plain, name: 'a', needs: [] },
  { ...plain, name: 'b', needs: ['a'] },
];
const [a, b] = [
  { name: 'a', state: 'succeeded', jobId: 'job_a' },
  { name: 'b', state: 'failed', jobId: 'job_b' },
] as const;
const run = { id: 'wfr_1', state: 'failed', definition, steps: [a, b] };
const [jobA, jobB] = [
  { id: 'job_a', state: 'succeeded', starts: 1, claims: 1 },
  { id: 'job_b', state: 'failed', starts: 1, claims: 1 },
];
const SOUND: WorkflowHistory = { started: ['wfr_1'], runs: [run], jobs: [jobA, jobB] };

function rulesBroken(some: Partial<WorkflowHistory>): string[] {
  return [...new Set(checkWorkflows({ ...SOUND, ...some }).map(({ rule }) => rule))];
}

test('A sound history of workflows has no violation, and each fault is found', () => {
  const skipped = { name: 'b', state: 'skipped', jobId: null } as const;
  const faults: readonly (readonly [Partial<WorkflowHistory>, readonly string[]])[] = [
    [{}, []],
    [{ started: ['wfr_1', 'wfr_2'] }, ['W1']],
    [{ runs: [{ ...run, state: 'running' }] }, ['W1', 'W5']],
    [{ jobs: [jobA, jobB, { ...jobB, id: 'job_c' }] }, ['W2']],
    [{ runs: [{ ...run, steps: [a, { ...b, jobId: 'job_a' }] }] }, ['W2', 'W4']],
    [{ jobs: [jobA, { ...jobB, starts: 2 }] }, ['W3']],
    [{ jobs: [jobA, { ...jobB, claims: 2 }] }, ['W3']],
    [{ jobs: [jobA, { ...jobB, state: 'succeeded' }] }, ['W4']],
    [{ jobs: [jobA], runs: [{ ...run, state: 'succeeded', steps: [a, skipped] }] }, ['W4']],
    [{ jobs: [jobA], runs: [{ ...run, state: 'succeeded', steps: [a, { ...skipped, state: 'waiting' }] }] }, ['W4']],
    [{ runs: [{ ...run, state: 'succeeded' }] }, ['W5']],
  ];
  for (const [some, expected] of faults) assert.deepEqual(rulesBroken(some), expected, JSON.stringify(some));
});
