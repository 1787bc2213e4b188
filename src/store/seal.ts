import { hash } from 'node:crypto';
import { Failure } from '../domain/failure.ts';
import { type Keyring, SealBroken } from '../lib/seal.ts';
import type { Tx } from './gate.ts';
import type { LedgerEntry } from './ledger.ts';
import type { ArtifactRow, Db, SealRow, SecretRow, StateRow, WebhookKeyRow } from './schema.ts';
import type { Store } from './store.ts';

/** What is sealed in this store, under which keys, and how it comes under a new one. */

export function secretLabel({ project, name, version }: Pick<SecretRow, 'project' | 'name' | 'version'>): string[] {
  return ['secret', project, name, String(version)];
}

export function stateLabel({ workspace, version, serial, lineage }: Pick<StateRow, 'workspace' | 'version' | 'serial' | 'lineage'>): string[] {
  return ['state', workspace, String(version), String(serial), lineage];
}

/** With what decides about the plan: who changes a verdict in the database has a plan that does not open. */
export function planLabel(row: Pick<ArtifactRow, 'id' | 'workspace' | 'serial' | 'lineage' | 'job_id' | 'verdict' | 'tree_digest' | 'secrets'>): string[] {
  return ['plan', row.id, row.workspace, String(row.serial), row.lineage, row.job_id, row.verdict ?? '', row.tree_digest, row.secrets];
}

export function planViewLabel({ id, workspace }: Pick<ArtifactRow, 'id' | 'workspace'>): string[] {
  return ['plan-view', id, workspace];
}

export function webhookKeyLabel({ webhook }: Pick<WebhookKeyRow, 'webhook'>): string[] {
  return ['webhook-key', webhook];
}

/**
 * The content. Throws conflict where it is not what was sealed, or no key here opens it: `what` says what can not be
 * done with what, and `advice` what follows from it.
 */
export function openSealed(ring: Keyring, label: readonly string[], sealed: Uint8Array, what: string, advice = ''): Uint8Array {
  try {
    return ring.open(label, sealed);
  } catch (error) {
    if (!(error instanceof SealBroken)) throw error;
    throw new Failure('conflict', `Integrity: ${what}: ${error.message}.${advice === '' ? '' : ` ${advice}`}`);
  }
}

const TABLES = ['secrets', 'states', 'artifacts', 'webhook_keys'] as const;
type SealedTable = (typeof TABLES)[number];

/** True when the store holds anything that only its key opens. */
export async function holdsSealed(db: Db): Promise<boolean> {
  for (const table of TABLES) {
    if ((await db.selectFrom(table).select('key_id').limit(1).executeTakeFirst()) !== undefined) return true;
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
  for (const table of TABLES) {
    const rows = await db
      .selectFrom(table)
      .select((eb) => ['key_id' as const, eb.fn.countAll<number>().as('count')])
      .groupBy('key_id')
      .execute();
    for (const { key_id: keyId, count } of rows) {
      total += count;
      if (ring?.has(keyId) !== true) foreign += count;
      else if (keyId !== ring.activeId) old += count;
    }
  }
  const used = (await findUsed(db)) ?? null;
  return { total, foreign, old, used, usedIsForeign: used !== null && ring?.has(used.key_id) !== true };
}

function findUsed(db: Db): Promise<SealRow | undefined> {
  return db.selectFrom('seal').selectAll().executeTakeFirst();
}

/**
 * Makes sure that the daemons of one store seal with one key: the first process that calls this writes down the id of
 * its key, and one that has not that key is refused. Two that start first at once on one database make two keys when
 * each has a data directory of its own; only one of them gets past this. Throws invalid_argument.
 */
export async function assertSameKey(store: Store, ring: Keyring): Promise<void> {
  const used = (await findUsed(store.db)) ?? (await store.write((tx) => claimUsed(tx, ring)));
  if (!ring.has(used.key_id)) throw otherKey(used, ring);
}

/**
 * As `assertSameKey`, inside of a write that appends to the ledger: rows under a key that the other daemons do not have
 * could not be verified.
 */
export async function holdSameKey(db: Db, ring: Keyring, now: number): Promise<void> {
  const used = (await findUsed(db)) ?? (await claimUsed({ db, now }, ring));
  if (!ring.has(used.key_id)) throw otherKey(used, ring);
}

async function claimUsed(tx: Pick<Tx, 'db' | 'now'>, { activeId }: Keyring): Promise<SealRow> {
  const row: SealRow = { id: 1, key_id: activeId, created_at: tx.now };
  await tx.db.insertInto('seal').values(row).onConflict((oc) => oc.column('id').doNothing()).execute();
  return tx.db.selectFrom('seal').selectAll().executeTakeFirstOrThrow();
}

function otherKey(used: SealRow, ring: Keyring): Failure {
  return new Failure(
    'invalid_argument',
    `--seal-key-file: this store is sealed with another key (${used.key_id}, and this file seals with ${ring.activeId}): ` +
      'copy the key file from where it was made, or put it back. Where nothing is sealed and no token is active, svc seal init takes this one.',
  );
}

/**
 * Notes the key that seals from now on. Throws invalid_argument when another process noted one that is not in `ring`.
 */
export async function noteUsed(tx: Tx, ring: Keyring): Promise<void> {
  const used = await claimUsed(tx, ring);
  if (used.key_id === ring.activeId) return;
  if (!ring.has(used.key_id)) throw otherKey(used, ring);
  await tx.db.updateTable('seal').set({ key_id: ring.activeId, created_at: tx.now }).where('key_id', '=', used.key_id).execute();
}

/** As `noteUsed`, whichever key was noted: for a store that holds nothing that any key opens. */
export async function takeOver(tx: Tx, ring: Keyring): Promise<void> {
  const used = await claimUsed(tx, ring);
  if (ring.has(used.key_id)) return;
  await tx.db.updateTable('seal').set({ key_id: ring.activeId, created_at: tx.now }).where('key_id', '=', used.key_id).execute();
}

/** Who has it done, for the ledger. */
export type ResealBy = Pick<LedgerEntry, 'principal' | 'owner' | 'via'>;

export interface Resealed {
  readonly count: number;
  /** What could not be opened, and so stays as it is: names for people. */
  readonly broken: readonly string[];
}

/** The write of a row sealed anew; false when somebody changed or removed it since. */
type Put = (tx: Tx, by: ResealBy) => Promise<boolean>;

/** A row under an old key. */
interface Old {
  readonly what: string;
  /** Throws SealBroken. */
  sealAnew(ring: Keyring): Put;
}

/**
 * Rows that are read, opened and written together. A secret has 64 KiB at most. A state may have 128 MiB and a plan 64:
 * these are in memory three times meanwhile (as read, in clear, sealed anew), and one at a time is what a process
 * stands.
 */
const PAGE_ROWS: Readonly<Record<SealedTable, number>> = { secrets: 64, states: 1, artifacts: 1, webhook_keys: 64 };

const READ_PAGE: Readonly<Record<SealedTable, (db: Db, keyIds: readonly string[], limit: number, skip: number) => Promise<Old[]>>> = {
  secrets: readSecrets,
  states: readStates,
  artifacts: readArtifacts,
  webhook_keys: readWebhookKeys,
};

/**
 * Seals everything anew that is under an older key of `ring`, in pages of one write each. What is under a key that is
 * not here stays as it is. May be cut short and called again: it goes on with what is left.
 */
export async function resealAll(store: Store, ring: Keyring, by: ResealBy): Promise<Resealed> {
  let count = 0;
  const broken = new Set<string>();
  for (const table of TABLES) {
    // Once more while there was something to do: a row may have been sealed with the older key meanwhile.
    for (let done = -1; done !== 0; count += done) done = await resealTable(store, ring, by, table, broken);
  }
  return { count, broken: [...broken] };
}

async function resealTable(store: Store, ring: Keyring, by: ResealBy, table: SealedTable, broken: Set<string>): Promise<number> {
  const keyIds = await oldKeyIds(store.db, ring, table);
  if (keyIds.length === 0) return 0;
  let [count, skip] = [0, 0];
  for (;;) {
    const page = await READ_PAGE[table](store.db, keyIds, PAGE_ROWS[table], skip);
    if (page.length === 0) return count;
    const puts = page.flatMap((row) => sealAnew(row, ring, broken));
    const done = await store.write(async (tx) => {
      let changed = 0;
      for (const put of puts) if (await put(tx, by)) changed += 1;
      return changed;
    });
    count += done;
    // What stays under its old key stands before the rest, in the order of reading.
    skip += page.length - done;
  }
}

function sealAnew(row: Old, ring: Keyring, broken: Set<string>): Put[] {
  try {
    return [row.sealAnew(ring)];
  } catch (error) {
    if (!(error instanceof SealBroken)) throw error;
    broken.add(row.what);
    return [];
  }
}

async function oldKeyIds(db: Db, ring: Keyring, table: SealedTable): Promise<string[]> {
  const rows = await db.selectFrom(table).select('key_id').distinct().execute();
  return rows.map((row) => row.key_id).filter((keyId) => keyId !== ring.activeId && ring.has(keyId));
}

async function readSecrets(db: Db, keyIds: readonly string[], limit: number, skip: number): Promise<Old[]> {
  const rows = await db.selectFrom('secrets').selectAll().where('key_id', 'in', keyIds).orderBy('project').orderBy('name').limit(limit).offset(skip).execute();
  return rows.map((row) => ({
    what: `secret ${row.project}/${row.name}`,
    sealAnew(ring) {
      const anew = { sealed: ring.seal(secretLabel(row), ring.open(secretLabel(row), row.sealed)), key_id: ring.activeId };
      return async ({ db }) => {
        const update = db.updateTable('secrets').set(anew).where('project', '=', row.project).where('name', '=', row.name);
        return changedOne(await update.where('sealed', '=', row.sealed).executeTakeFirst());
      };
    },
  }));
}

async function readStates(db: Db, keyIds: readonly string[], limit: number, skip: number): Promise<Old[]> {
  const rows = await db.selectFrom('states').selectAll().where('key_id', 'in', keyIds).orderBy('workspace').orderBy('version').limit(limit).offset(skip).execute();
  return rows.map((row) => ({
    what: `state ${row.version} of workspace ${row.workspace}`,
    sealAnew(ring) {
      const anew = { sealed: ring.seal(stateLabel(row), ring.open(stateLabel(row), row.sealed)), key_id: ring.activeId };
      return async ({ db }) => {
        const update = db.updateTable('states').set(anew).where('workspace', '=', row.workspace).where('version', '=', row.version);
        return changedOne(await update.where('sealed', '=', row.sealed).executeTakeFirst());
      };
    },
  }));
}

async function readWebhookKeys(db: Db, keyIds: readonly string[], limit: number, skip: number): Promise<Old[]> {
  const rows = await db.selectFrom('webhook_keys').selectAll().where('key_id', 'in', keyIds).orderBy('webhook').limit(limit).offset(skip).execute();
  return rows.map((row) => ({
    what: `signing secret of webhook ${row.webhook}`,
    sealAnew(ring) {
      const anew = { sealed: ring.seal(webhookKeyLabel(row), ring.open(webhookKeyLabel(row), row.sealed)), key_id: ring.activeId };
      return async ({ db }) => changedOne(await db.updateTable('webhook_keys').set(anew).where('webhook', '=', row.webhook).where('sealed', '=', row.sealed).executeTakeFirst());
    },
  }));
}

async function readArtifacts(db: Db, keyIds: readonly string[], limit: number, skip: number): Promise<Old[]> {
  const rows = await db.selectFrom('artifacts').selectAll().where('key_id', 'in', keyIds).orderBy('id').limit(limit).offset(skip).execute();
  return rows.map((row) => ({ what: `plan ${row.id}`, sealAnew: (ring) => artifactAnew(row, ring) }));
}

/**
 * A saved plan is named by the digest of its sealed bytes, in its row, in the approval that was asked for and in the
 * ledger. Sealed anew it gets another one: the first two change with it, in one transaction, and the ledger gets a row
 * that leads from the one to the other.
 */
function artifactAnew(row: ArtifactRow, ring: Keyring): Put {
  // What is not what was once noted must not get a digest that makes it look so.
  if (hash('sha256', row.sealed) !== row.digest) throw new SealBroken('altered');
  const sealed = ring.seal(planLabel(row), ring.open(planLabel(row), row.sealed));
  const view = ring.seal(planViewLabel(row), ring.open(planViewLabel(row), row.sealed_view));
  const anew = { sealed, sealed_view: view, digest: hash('sha256', sealed), key_id: ring.activeId };
  return async (tx, by) => {
    const update = tx.db.updateTable('artifacts').set(anew).where('id', '=', row.id).where('digest', '=', row.digest);
    if (!changedOne(await update.where('key_id', '=', row.key_id).executeTakeFirst())) return false;
    const asked = tx.db.updateTable('approvals').set({ plan_digest: anew.digest }).where('plan_artifact_id', '=', row.id);
    await asked.where('plan_digest', '=', row.digest).execute();
    tx.record({ ...by, operation: 'seal.rotate', target: row.id, detail: { digest: anew.digest, digest_before: row.digest } });
    return true;
  };
}

function changedOne({ numUpdatedRows }: { readonly numUpdatedRows: bigint }): boolean {
  return Number(numUpdatedRows) === 1;
}
