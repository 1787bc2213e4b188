import { call, keyOf, some } from '../plan/make.ts';
import type { SimulatedArea } from './area.ts';

const GATED = `steps:
  - name: first
    command: [succeeds]
    inventory: localhost
  - name: second
    command: [succeeds]
    inventory: localhost
    approval: required
  - name: third
    command: [succeeds]
    inventory: localhost
`;

/** Its second step is queued after an end that no run of a daemon recorded: each daemon may do it. */
const MENDED = `steps:
  - name: first
    command: [hangs]
    inventory: localhost
  - name: second
    needs: [first]
    when: steps.first.state != "succeeded"
    command: [succeeds]
    inventory: localhost
`;

export const WORKFLOWS: SimulatedArea = {
  scene: [
    ['local', 'workflow.add', { name: 'gated', text: GATED }],
    ['local', 'workflow.add', { name: 'mended', text: MENDED }],
  ],
  makers: [
    [3, (chance) => call('operator', 'workflow.run', { name: 'gated' }, keyOf(chance))],
    [2, (chance) => call('operator', 'workflow.run', { name: 'mended' }, keyOf(chance))],
    [2, (chance) => call('operator', 'job.cancel', { id: some(chance, 'step') })],
    [1, (chance) => call('operator', 'workflow.cancel', { run: some(chance, 'run') })],
  ],
  picks: {
    run: 'workflow_runs',
    /** A job whose end continues a run. */
    step: `jobs where "trigger" = 'workflow' and state in ('queued', 'running')`,
  },
  unfinished: { workflow_runs: 'finished_at is null' },
  atRest: [
    {
      rule: 'W1',
      sql: 'select id from workflow_runs where finished_at is null',
      words: ({ id }) => `the workflow run ${String(id)} has not ended`,
    },
    {
      rule: 'W2',
      sql: `select id from jobs where "trigger" = 'workflow' and id not in
        (select job_id from workflow_steps where job_id is not null)`,
      words: ({ id }) => `${String(id)} is of no step`,
    },
  ],
};
