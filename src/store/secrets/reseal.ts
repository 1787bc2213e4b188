import { hash } from 'node:crypto';
import { type Keyring, SealBroken } from '../../lib/seal.ts';
import type { Tx } from '../engine/tx.ts';
import type { LedgerEntry } from '../engine/ledger.ts';
import type { ArtifactRow, Db } from '../schema/schema.ts';
import {
  planLabel,
  planViewLabel,
  SEALED_TABLES,
  type SealedTable,
  secretLabel,
  stateLabel,
  webhookKeyLabel,
} from './seal.ts';
import type { Store } from '../store.ts';

/** How what is sealed in a store comes under a new key. */

/** Who has it done, for the ledger. */
export type ResealBy = Pick<LedgerEntry, 'principal' | 'owner' | 'via'>;

interface Resealed {
  readonly count: number;
  /** What could not be opened, and so stays as it is: names for people. */
  readonly broken: readonly string[];
}

/** Writes a resealed row; false when it was changed or removed since. */
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

const READ_PAGE: Readonly<
  Record<SealedTable, (db: Db, keyIds: readonly string[], limit: number, skip: number) => Promise<Old[]>>
> = { secrets: readSecrets, states: readStates, artifacts: readArtifacts, webhook_keys: readWebhookKeys };

/**
 * Seals everything anew that is under an older key of `ring`, in pages of one write each. What is under a key that is
 * not here stays as it is. May be cut short and called again: it goes on with what is left.
 */
export async function resealAll(store: Store, ring: Keyring, by: ResealBy): Promise<Resealed> {
  let count = 0;
  const broken = new Set<string>();
  for (const table of SEALED_TABLES) {
    // Repeat while rows were found: a row may have been sealed with the older key in the mean time.
    for (let done = -1; done !== 0; count += done) done = await resealTable(store, ring, by, table, broken);
  }
  return { count, broken: [...broken] };
}

async function resealTable(
  store: Store,
  ring: Keyring,
  by: ResealBy,
  table: SealedTable,
  broken: Set<string>,
): Promise<number> {
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
  const rows = await db
    .selectFrom('secrets')
    .selectAll()
    .where('key_id', 'in', keyIds)
    .orderBy('project')
    .orderBy('name')
    .limit(limit)
    .offset(skip)
    .execute();
  return rows.map((row) => ({
    what: `secret ${row.project}/${row.name}`,
    sealAnew(ring) {
      const resealed = {
        sealed: ring.seal(secretLabel(row), ring.open(secretLabel(row), row.sealed)),
        key_id: ring.activeId,
      };
      return async ({ db }) => {
        const update = db
          .updateTable('secrets')
          .set(resealed)
          .where('project', '=', row.project)
          .where('name', '=', row.name);
        return changedOne(await update.where('sealed', '=', row.sealed).executeTakeFirst());
      };
    },
  }));
}

async function readStates(db: Db, keyIds: readonly string[], limit: number, skip: number): Promise<Old[]> {
  const rows = await db
    .selectFrom('states')
    .selectAll()
    .where('key_id', 'in', keyIds)
    .orderBy('workspace')
    .orderBy('version')
    .limit(limit)
    .offset(skip)
    .execute();
  return rows.map((row) => ({
    what: `state ${row.version} of workspace ${row.workspace}`,
    sealAnew(ring) {
      const resealed = {
        sealed: ring.seal(stateLabel(row), ring.open(stateLabel(row), row.sealed)),
        key_id: ring.activeId,
      };
      return async ({ db }) => {
        const update = db
          .updateTable('states')
          .set(resealed)
          .where('workspace', '=', row.workspace)
          .where('version', '=', row.version);
        return changedOne(await update.where('sealed', '=', row.sealed).executeTakeFirst());
      };
    },
  }));
}

async function readWebhookKeys(db: Db, keyIds: readonly string[], limit: number, skip: number): Promise<Old[]> {
  const rows = await db
    .selectFrom('webhook_keys')
    .selectAll()
    .where('key_id', 'in', keyIds)
    .orderBy('webhook')
    .limit(limit)
    .offset(skip)
    .execute();
  return rows.map((row) => ({
    what: `signing secret of webhook ${row.webhook}`,
    sealAnew(ring) {
      const resealed = {
        sealed: ring.seal(webhookKeyLabel(row), ring.open(webhookKeyLabel(row), row.sealed)),
        key_id: ring.activeId,
      };
      return async ({ db }) =>
        changedOne(
          await db
            .updateTable('webhook_keys')
            .set(resealed)
            .where('webhook', '=', row.webhook)
            .where('sealed', '=', row.sealed)
            .executeTakeFirst(),
        );
    },
  }));
}

async function readArtifacts(db: Db, keyIds: readonly string[], limit: number, skip: number): Promise<Old[]> {
  const rows = await db
    .selectFrom('artifacts')
    .selectAll()
    .where('key_id', 'in', keyIds)
    .orderBy('id')
    .limit(limit)
    .offset(skip)
    .execute();
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
  const resealed = { sealed, sealed_view: view, digest: hash('sha256', sealed), key_id: ring.activeId };
  return async (tx, by) => {
    const update = tx.db
      .updateTable('artifacts')
      .set(resealed)
      .where('id', '=', row.id)
      .where('digest', '=', row.digest);
    if (!changedOne(await update.where('key_id', '=', row.key_id).executeTakeFirst())) return false;
    const asked = tx.db
      .updateTable('approvals')
      .set({ plan_digest: resealed.digest })
      .where('plan_artifact_id', '=', row.id);
    await asked.where('plan_digest', '=', row.digest).execute();
    tx.record({
      ...by,
      operation: 'seal.rotate',
      target: row.id,
      detail: { digest: resealed.digest, digest_before: row.digest },
    });
    return true;
  };
}

function changedOne({ numUpdatedRows }: { readonly numUpdatedRows: bigint }): boolean {
  return Number(numUpdatedRows) === 1;
}
