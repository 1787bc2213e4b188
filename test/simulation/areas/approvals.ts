import { call, keyOf, some } from '../plan/make.ts';
import type { Made } from '../plan/plan.ts';
import type { Stream } from '../world/chance.ts';
import type { SimulatedArea } from './area.ts';

function decision(chance: Stream): Made {
  const raw = { id: some(chance, 'approval'), decision: chance.pick(['approve', 'approve', 'reject']) };
  return call(chance.pick(['decider', 'decider', 'decider', 'operator'] as const), 'approval.decision', raw);
}

const ASKED = `steps:
  - name: only
    command: [succeeds]
    inventory: localhost
    approval: required
`;

export const APPROVALS: SimulatedArea = {
  scene: [['local', 'workflow.add', { name: 'asked', text: ASKED }]],
  makers: [
    [7, decision],
    [3, (chance) => call('operator', 'workflow.run', { name: 'asked' }, keyOf(chance))],
    [3, (chance) => ({ do: 'decide-late', at: chance.next(), decision: chance.pick(['approve', 'reject'] as const) })],
  ],
  picks: { approval: 'approvals' },
  atRest: [
    {
      rule: 'A2',
      sql: `select target, count(*) as n from ledger
        where operation in ('approval.decision', 'approval.expire') group by target having count(*) > 1`,
      words: ({ target, n }) => `approval ${String(target)} was settled ${String(n)} times`,
    },
    {
      rule: 'A3',
      sql: `select id from approvals where state = 'approved' and decided_at >= expires_at`,
      words: ({ id }) => `approval ${String(id)} was approved after its deadline`,
    },
    {
      rule: 'A4',
      sql: `select target, owner from ledger join approvals on approvals.id = target
        where operation = 'approval.decision' and owners like '%"' || owner || '"%'`,
      words: ({ target, owner }) =>
        `${String(owner)} decided about ${String(target)}, which ${String(owner)} asked for`,
    },
    {
      rule: 'A5',
      sql: `select jobs.id, jobs.rerun_of as first from jobs join jobs as old on old.id = jobs.rerun_of
        where old.initial_state = 'awaiting_approval' and jobs.initial_state <> 'awaiting_approval'`,
      words: ({ id, first }) => `${String(id)} repeats ${String(first)} without its approval`,
    },
    {
      rule: 'A6',
      sql: `select id from jobs where initial_state = 'awaiting_approval' and started_at is not null
        and id not in (select job_id from approvals where state = 'approved')`,
      words: ({ id }) => `${String(id)} was started without a yes`,
    },
  ],
};
