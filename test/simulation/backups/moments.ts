import type { Rows } from '../rules/rules.ts';

/** They have other rows at two moments that differ in what a caller was answered, or in what happens next. */
const QUERIES = [
  'select id, length, head from chains order by id',
  'select id, state, cancel_requested_at from jobs order by id',
  'select id, state from approvals order by id',
  'select id, state from workflow_runs order by id',
  'select page_id, target, state, attempts from deliveries order by page_id, target',
  'select id, outcome from events order by id',
  'select id, revoked_at from tokens order by id',
  'select count(*) as n, sum(last_seq) as seq from job_chunks',
];

/** The same text for a store and a copy of it of the same moment. */
export function momentOf(rows: Rows): string {
  return JSON.stringify(QUERIES.map((sql) => rows(sql)));
}
