import type { SimulatedArea } from './area.ts';

export const LEDGER: SimulatedArea = {
  atRest: [
    {
      rule: 'L1',
      sql: `select id from jobs where state in ('succeeded', 'failed', 'interrupted')
        and id not in (select target from ledger where operation = 'job.start' and target is not null)`,
      words: ({ id }) => `the ledger has no start of ${String(id)}`,
    },
    {
      rule: 'L3',
      sql: `select id, state from jobs where state in ('succeeded', 'failed', 'interrupted')
        and id not in (select target from ledger where operation = 'job.end' and target is not null)`,
      words: ({ id, state }) => `the ledger has no end of ${String(id)}, which is ${String(state)}`,
    },
    {
      rule: 'L4',
      // A no may be that of a cancel, which has another row.
      sql: `select id, state from approvals where state in ('approved', 'expired') and id not in
        (select target from ledger where operation in ('approval.decision', 'approval.expire') and target is not null)`,
      words: ({ id, state }) => `the ledger does not say how approval ${String(id)} became ${String(state)}`,
    },
    {
      rule: 'L5',
      sql: `select operation, target from ledger
        where substr(target, 1, 4) = 'job_' and target not in (select id from jobs)`,
      words: ({ operation, target }) => `the ledger has ${String(operation)} of ${String(target)}, which is not there`,
    },
  ],
};
