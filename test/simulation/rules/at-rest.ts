import type { Watch, Rows } from './rules.ts';

/**
 * A query that must have no rows once everything has come to its end, for both stores: PostgreSQL has a json_extract
 * for it, and no names of columns in `having`. `words` says what a row means.
 */
interface RestRule {
  readonly rule: string;
  readonly sql: string;
  readonly words: (row: Readonly<Record<string, unknown>>) => string;
}

const ENDED = "('succeeded', 'failed', 'cancelled', 'interrupted')";

const AT_REST: readonly RestRule[] = [
  {
    rule: 'J9',
    sql: `select id, state from jobs where state not in ${ENDED}`,
    words: ({ id, state }) => `${String(id)} is still ${String(state)}`,
  },
  {
    rule: 'J10',
    sql: `select target, count(*) as n from ledger where operation = 'job.end' group by target having count(*) > 1`,
    words: ({ target, n }) => `${String(target)} was ended ${String(n)} times`,
  },
  {
    rule: 'J11',
    // The second word of a command is the key of the request that asked for it.
    sql: `select json_extract(spec, '$.command[1]') as request, count(*) as n from jobs
      where kind = 'command' and redrive_of is null and rerun_of is null
      group by 1 having count(*) > 1 and json_extract(spec, '$.command[1]') is not null`,
    words: ({ request, n }) => `the request ${String(request)} has ${String(n)} jobs`,
  },
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
  {
    rule: 'N1',
    sql: "select topic, state from pages where state in ('new', 'sending')",
    words: ({ topic, state }) => `the notification of ${String(topic)} is ${String(state)}`,
  },
  {
    rule: 'E1',
    sql: `select json_extract(labels, '$.job_id') as job, count(*) as n from events
      where source = 'job-outcome' and json_extract(labels, '$.job_id') is not null group by 1 having count(*) > 1`,
    words: ({ job, n }) => `${String(job)} has ${String(n)} events of its end`,
  },
  {
    rule: 'E2',
    sql: `select id, state from jobs where outcome_event_id is null and state in ${ENDED}`,
    words: ({ id, state }) => `${String(id)} is ${String(state)} and has no event of it`,
  },
  {
    rule: 'S1',
    sql: `select json_extract(detail, '$.slot') as slot, count(*) as n from ledger
      where operation = 'schedule.run' group by 1 having count(*) > 1`,
    words: ({ slot, n }) => `the time ${String(slot)} of the schedule ran ${String(n)} times`,
  },
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
    words: ({ target, owner }) => `${String(owner)} decided about ${String(target)}, which ${String(owner)} asked for`,
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
  {
    rule: 'O1',
    sql: `select job_id, first_seq, before from (select job_id, first_seq,
      lag(last_seq) over (partition by job_id order by first_seq) as before from job_chunks)
      where (before is null and first_seq > 2) or (before is not null and first_seq <> before + 1)`,
    words: ({ job_id: id, first_seq: seq, before }) =>
      `the output of ${String(id)} has ${String(seq)} after ${String(before)}`,
  },
];

/** To be asked once nothing is left to happen. `messages` are those that the phone has shown, as JSON. */
export function lookAtRest(rows: Rows, watch: Watch, messages: readonly string[]): void {
  for (const { rule, sql, words } of AT_REST) for (const row of rows(sql)) watch.violated(rule, words(row));
  const shown = new Set(messages.map((each) => (JSON.parse(each) as { id: string }).id));
  for (const { page_id: id } of rows("select page_id from deliveries where state = 'sent'"))
    if (!shown.has(String(id))) watch.violated('N2', `the notification ${String(id)} counts as sent and was not shown`);
}
