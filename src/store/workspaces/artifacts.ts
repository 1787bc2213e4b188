import { workspaceKey } from '../../domain/workspaces/workspace.ts';
import type { Tx } from '../engine/tx.ts';
import { PENDING, QUEUED, RUNNING } from '../engine/literals.ts';
import { prepared } from '../engine/prepared.ts';
import { found, hasChanged } from '../engine/rows.ts';
import type { Untagged } from '../engine/tags/forms.ts';
import { retagged, tagOf } from '../engine/tags/tags.ts';
import type { ArtifactRow, Db } from '../schema/schema.ts';

/** Saved plans that are kept of a workspace: some weeks of daily plans. Older ones are stale in nearly every case. */
export const ARTIFACTS_KEPT = 50;

/** A saved plan without what is sealed: that may be megabytes. */
export type ArtifactFacts = Omit<ArtifactRow, 'sealed' | 'sealed_view'>;

const FACTS = [
  'id',
  'workspace',
  'job_id',
  'serial',
  'lineage',
  'tree_digest',
  'needs_init',
  'own_backend',
  'secrets',
  'verdict',
  'verdict_reason',
  'destroys',
  'changes',
  'creates',
  'summary',
  'digest',
  'key_id',
  'created_at',
  'consumed_by',
  'order_tag',
  'order_key_id',
] as const satisfies readonly (keyof ArtifactFacts)[];

const factsOf = prepared<{ id: string }, ArtifactFacts>((db, value) =>
  db.selectFrom('artifacts').select(FACTS).where('id', '=', value('id')),
);

export async function findArtifact(db: Db, id: string): Promise<ArtifactFacts | undefined> {
  return (await factsOf(db, { id })).rows[0];
}

const heldFacts = prepared<{ id: string }, ArtifactFacts>((db, value, dialect) =>
  dialect.holdRows(db.selectFrom('artifacts').select(FACTS).where('id', '=', value('id'))),
);

/** As `findArtifact`, in a write that records its digest: it cannot be resealed before that write has ended. */
export async function holdArtifact(tx: Tx, id: string): Promise<ArtifactFacts | undefined> {
  return (await heldFacts(tx.db, { id })).rows[0];
}

/** With the sealed plan file, for the run that carries it out. Throws not_found. */
export async function getArtifact(db: Db, id: string): Promise<Omit<ArtifactRow, 'sealed_view'>> {
  const row = await db
    .selectFrom('artifacts')
    .select([...FACTS, 'sealed'])
    .where('id', '=', id)
    .executeTakeFirst();
  return found(row, 'saved plan', id);
}

const VIEW = ['id', 'workspace', 'sealed_view', 'destroys', 'summary'] as const;
export type KeptPlanView = Pick<ArtifactRow, (typeof VIEW)[number]>;

/** The sealed view of a plan, the workspace that its label names, and the counts of its changes. */
export function findPlanView(db: Db, id: string): Promise<KeptPlanView | undefined> {
  return db.selectFrom('artifacts').select(VIEW).where('id', '=', id).executeTakeFirst();
}

/** Saved plans whose summary was made by a build that did not count replacements on their own. */
export async function plansToRecount(db: Db, after: string, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom('artifacts')
    .select('id')
    .where('id', '>', after)
    .where('summary', 'not like', '%to replace%')
    .where('summary', 'not like', 'no changes%')
    .orderBy('id')
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}

/** Replaces summary and view of a plan, unless it was sealed again since it was read. */
export async function replaceSummary(
  tx: Tx,
  { id, sealed_view: before }: KeptPlanView,
  replaced: Pick<ArtifactRow, 'summary' | 'sealed_view'>,
): Promise<boolean> {
  const plan = await findArtifact(tx.db, id);
  if (plan === undefined) return false;
  const columns = retagged(tx.ring, 'artifacts', plan, replaced);
  return hasChanged(tx.db.updateTable('artifacts').set(columns).where('id', '=', id).where('sealed_view', '=', before));
}

/** The saved plans of a workspace, newest first: those that are kept, and at most as many that something needs. */
export function listArtifacts(db: Db, workspace: string): Promise<ArtifactFacts[]> {
  return db
    .selectFrom('artifacts')
    .select(FACTS)
    .where('workspace', '=', workspace)
    .orderBy('id', 'desc')
    .limit(2 * ARTIFACTS_KEPT)
    .execute();
}

/** Of a plan that was just made. */
export type NewArtifact = Untagged<Omit<ArtifactRow, 'created_at' | 'consumed_by'>>;

/** Keeps a saved plan, and drops what is beyond the newest of its workspace. */
export async function insertArtifact(tx: Tx, artifact: NewArtifact): Promise<void> {
  const row = { ...artifact, created_at: tx.now, consumed_by: null };
  await tx.db
    .insertInto('artifacts')
    .values({ ...row, ...tagOf(tx.ring, 'artifacts', row) })
    .execute();
  await dropOld(tx, artifact.workspace);
}

/** A plan that somebody is asked about, or that a job is still to carry out, stays however old it is. */
async function dropOld(tx: Tx, workspace: string): Promise<void> {
  const old = await tx.db
    .selectFrom('artifacts')
    .select('id')
    .where('workspace', '=', workspace)
    .orderBy('id', 'desc')
    .offset(ARTIFACTS_KEPT)
    // Far more than one insert can push out; SQLite takes an offset only with a limit.
    .limit(ARTIFACTS_KEPT)
    .execute();
  if (old.length === 0) return;
  const asked = tx.db
    .selectFrom('approvals')
    .select('plan_artifact_id')
    .where('state', '=', PENDING)
    .where('workspace', '=', workspace);
  const ofKey = tx.db
    .selectFrom('jobs')
    .select('plan_artifact_id')
    .where('concurrency_key', '=', workspaceKey(workspace));
  const named = asked.unionAll(ofKey.where('state', '=', RUNNING)).unionAll(ofKey.where('state', '=', QUEUED));
  const needed = new Set((await named.execute()).map((row) => row.plan_artifact_id));
  const dropped = old.map(({ id }) => id).filter((id) => !needed.has(id));
  if (dropped.length > 0) await tx.db.deleteFrom('artifacts').where('id', 'in', dropped).execute();
}

/** Marks a plan as used by this job. False when it was used before, or is not there: a plan runs once. */
export function consume(tx: Tx, id: string, jobId: string): Promise<boolean> {
  const update = tx.db.updateTable('artifacts').set({ consumed_by: jobId }).where('id', '=', id);
  return hasChanged(update.where('consumed_by', 'is', null));
}

/** Gives a plan back that a run took and then never started: what stood in the way may be gone the next time. */
export async function release(tx: Tx, id: string, jobId: string): Promise<void> {
  await tx.db
    .updateTable('artifacts')
    .set({ consumed_by: null })
    .where('id', '=', id)
    .where('consumed_by', '=', jobId)
    .execute();
}
