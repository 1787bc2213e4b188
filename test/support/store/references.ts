/** The rows of a store that have to name each other. */
import { sql } from 'kysely';
import { toJson } from '../../../src/lib/json.ts';
import type { Schema } from '../../../src/store/schema/schema.ts';
import type { Store } from '../../../src/store/store.ts';
import type { insertArtifact } from '../../../src/store/workspaces/artifacts.ts';

/** Every column that names a row which has to be there. */
const REFERENCES: readonly (readonly [from: keyof Schema, column: string, to: keyof Schema, key: string])[] = [
  ['job_chunks', 'job_id', 'jobs', 'id'],
  ['job_partials', 'job_id', 'jobs', 'id'],
  ['job_follows', 'job_id', 'jobs', 'id'],
  ['config_orders', 'job_id', 'jobs', 'id'],
  ['host_results', 'job_id', 'jobs', 'id'],
  ['playbook_runs', 'job_id', 'jobs', 'id'],
  ['playbook_hosts', 'job_id', 'jobs', 'id'],
  ['armed_jobs', 'job_id', 'jobs', 'id'],
  ['approvals', 'job_id', 'jobs', 'id'],
  ['approvals', 'alert', 'events', 'id'],
  ['approvals', 'plan_artifact_id', 'artifacts', 'id'],
  ['decision_links', 'approval_id', 'approvals', 'id'],
  ['artifacts', 'job_id', 'jobs', 'id'],
  ['states', 'job_id', 'jobs', 'id'],
  ['jobs', 'redrive_of', 'jobs', 'id'],
  ['jobs', 'plan_artifact_id', 'artifacts', 'id'],
  ['jobs', 'outcome_event_id', 'events', 'id'],
  ['redriven_jobs', 'job_id', 'jobs', 'id'],
  ['unread_files', 'job_id', 'jobs', 'id'],
  ['workflow_steps', 'job_id', 'jobs', 'id'],
  ['workflow_runs', 'event_id', 'events', 'id'],
  ['workspaces', 'last_plan_job_id', 'jobs', 'id'],
  ['workspaces', 'last_apply_job_id', 'jobs', 'id'],
  ['workspaces', 'moved_by_job', 'jobs', 'id'],
  ['schedules', 'last_job_id', 'jobs', 'id'],
];

/** What names a row that is not there. */
export async function dangling({ db }: Store): Promise<string[]> {
  const found: string[] = [];
  for (const [from, column, to, key] of REFERENCES) {
    const { rows } = await sql`select 1 from ${sql.table(from)} as a where a.${sql.ref(column)} is not null
      and not exists (select 1 from ${sql.table(to)} as b where b.${sql.ref(key)} = a.${sql.ref(column)})`.execute(db);
    if (rows.length > 0) found.push(`${rows.length} of ${from}.${column}`);
  }
  return found;
}

/** A saved plan of the workspace `db`. */
export function artifactRow(id: string, jobId: string): Parameters<typeof insertArtifact>[1] {
  return {
    id,
    workspace: 'db',
    job_id: jobId,
    serial: 1,
    lineage: 'x',
    tree_digest: 'x',
    needs_init: 0,
    own_backend: 0,
    secrets: toJson({}),
    verdict: null,
    verdict_reason: null,
    destroys: 0,
    changes: 0,
    creates: 0,
    summary: '',
    sealed: Buffer.from('x'),
    digest: 'x',
    sealed_view: Buffer.from('x'),
    key_id: 'k',
  };
}
