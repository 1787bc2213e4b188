import type { Watch, Rows } from './rules.ts';

/** A query that must have no rows once everything has come to its end. `words` says what a row means. */
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
      where source = 'job-outcome' group by 1 having n > 1 and job is not null`,
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
      where operation = 'schedule.run' group by 1 having n > 1`,
    words: ({ slot, n }) => `the time ${String(slot)} of the schedule ran ${String(n)} times`,
  },
  {
    rule: 'A2',
    sql: `select target, count(*) as n from ledger
      where operation in ('approval.decision', 'approval.expire') group by target having n > 1`,
    words: ({ target, n }) => `approval ${String(target)} was settled ${String(n)} times`,
  },
  {
    rule: 'L1',
    sql: `select id from jobs where state in ('succeeded', 'failed', 'interrupted')
      and id not in (select target from ledger where operation = 'job.start' and target is not null)`,
    words: ({ id }) => `the ledger has no start of ${String(id)}`,
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

/** To be asked once nothing is left to happen. */
export function lookAtRest(rows: Rows, watch: Watch): void {
  for (const { rule, sql, words } of AT_REST) for (const row of rows(sql)) watch.violated(rule, words(row));
}
