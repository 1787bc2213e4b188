import { Failure } from '../../domain/failure.ts';
import { type Keyring, SealBroken } from '../../lib/seal.ts';
import type { Tx } from '../engine/tx.ts';
import { claimUsed, findUsed, otherKey } from '../engine/key-in-use.ts';
import type { ArtifactRow, CheckTargetRow, Db, SealRow, SecretRow, StateRow, WebhookKeyRow } from '../schema/schema.ts';
import type { Store } from '../store.ts';

/** What is sealed in this store, and under which keys. */

export function secretLabel({ project, name, version }: Pick<SecretRow, 'project' | 'name' | 'version'>): string[] {
  return ['secret', project, name, String(version)];
}

export function stateLabel({
  workspace,
  version,
  serial,
  lineage,
}: Pick<StateRow, 'workspace' | 'version' | 'serial' | 'lineage'>): string[] {
  return ['state', workspace, String(version), String(serial), lineage];
}

/** With all that decides about the plan: after a change of the verdict in the database the plan cannot be opened. */
export function planLabel(
  row: Pick<ArtifactRow, 'id' | 'workspace' | 'serial' | 'lineage' | 'job_id' | 'verdict' | 'tree_digest' | 'secrets'>,
): string[] {
  return [
    'plan',
    row.id,
    row.workspace,
    String(row.serial),
    row.lineage,
    row.job_id,
    row.verdict ?? '',
    row.tree_digest,
    row.secrets,
  ];
}

export function planViewLabel({ id, workspace }: Pick<ArtifactRow, 'id' | 'workspace'>): string[] {
  return ['plan-view', id, workspace];
}

export function webhookKeyLabel({ webhook }: Pick<WebhookKeyRow, 'webhook'>): string[] {
  return ['webhook-key', webhook];
}

/** With the specification: after a change of it in the database, the credentials are not sent to another host. */
export function checkTargetLabel({ check_name: check, name, spec }: CheckTargetLabelled): string[] {
  return ['check-target', check, name, spec];
}

type CheckTargetLabelled = Pick<CheckTargetRow, 'check_name' | 'name' | 'spec'>;

/**
 * The content. Throws conflict where it is not what was sealed, or no key here opens it: `what` says what cannot be
 * done with what, and `advice` what follows from it.
 */
export function openSealed(
  ring: Keyring,
  label: readonly string[],
  sealed: Uint8Array,
  what: string,
  advice = '',
): Uint8Array {
  try {
    return ring.open(label, sealed);
  } catch (error) {
    if (!(error instanceof SealBroken)) throw error;
    throw new Failure('conflict', `Integrity: ${what}: ${error.message}.${advice === '' ? '' : ` ${advice}`}`);
  }
}

export const SEALED_TABLES = ['secrets', 'states', 'artifacts', 'webhook_keys', 'check_targets'] as const;
export type SealedTable = (typeof SEALED_TABLES)[number];

/** True when the store holds anything that only its key opens. */
export async function holdsSealed(db: Db): Promise<boolean> {
  for (const table of SEALED_TABLES) {
    const sealed = db.selectFrom(table).select('key_id').where('key_id', 'is not', null);
    if ((await sealed.limit(1).executeTakeFirst()) !== undefined) return true;
  }
  return false;
}

export interface SealCounts {
  /** Rows that hold something sealed; a saved plan and its view are one. */
  readonly total: number;
  /** Of these, under a key that is not here. */
  readonly foreign: number;
  /** Of these, under a key that is here and does not seal any more. */
  readonly old: number;
  /** The key that the daemons of this store seal with; null before the first. */
  readonly used: SealRow | null;
  /** Whether that key is not here. */
  readonly usedIsForeign: boolean;
}

/** Counts by `ring`; with null, where there is no key at all, everything is foreign. */
export async function countSealed(db: Db, ring: Keyring | null): Promise<SealCounts> {
  let [total, foreign, old] = [0, 0, 0];
  for (const table of SEALED_TABLES) {
    const rows = await db
      .selectFrom(table)
      .select((eb) => ['key_id' as const, eb.fn.countAll<number>().as('count')])
      // A target of a check may have nothing sealed.
      .where('key_id', 'is not', null)
      .groupBy('key_id')
      .execute();
    for (const { key_id: keyId, count } of rows) {
      if (keyId === null) continue;
      total += count;
      if (ring?.has(keyId) !== true) foreign += count;
      else if (keyId !== ring.activeId) old += count;
    }
  }
  const used = (await findUsed(db)) ?? null;
  return { total, foreign, old, used, usedIsForeign: used !== null && ring?.has(used.key_id) !== true };
}

/**
 * Ensures that the daemons of one store seal with one key: the first process that calls this records the id of its key,
 * and a process without that key is refused. Two processes with separate data directories that start at once on one new
 * database make two keys; only one of them is accepted. Throws invalid_argument.
 */
export async function assertSameKey(store: Store, ring: Keyring): Promise<void> {
  const used = (await findUsed(store.db)) ?? (await store.write((tx) => claimUsed(tx, ring)));
  if (!ring.has(used.key_id)) throw otherKey(used, ring);
}

/**
 * Notes the key that seals from now on. Throws invalid_argument when another process noted one that is not in `ring`.
 */
export async function noteUsed(tx: Tx, ring: Keyring): Promise<void> {
  const used = await claimUsed(tx, ring);
  if (used.key_id === ring.activeId) return;
  if (!ring.has(used.key_id)) throw otherKey(used, ring);
  await replaceUsed(tx, used, ring);
}

/** Notes that the key file was written elsewhere. */
export async function noteExported(tx: Tx, ring: Keyring): Promise<void> {
  await noteUsed(tx, ring);
  await tx.db.updateTable('seal').set({ exported_at: tx.now, exported_key_id: ring.activeId }).execute();
}

/** The key that the daemons of this store seal with, and its last export; undefined before the first. */
export const findSealKey = findUsed;

/** As `noteUsed`, whichever key was noted: for a store that holds nothing that any key opens. */
export async function takeOver(tx: Tx, ring: Keyring): Promise<void> {
  const used = await claimUsed(tx, ring);
  if (!ring.has(used.key_id)) await replaceUsed(tx, used, ring);
}

async function replaceUsed(tx: Tx, used: SealRow, { activeId }: Keyring): Promise<void> {
  const update = tx.db.updateTable('seal').set({ key_id: activeId, created_at: tx.now });
  await update.where('key_id', '=', used.key_id).execute();
}
