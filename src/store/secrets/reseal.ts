import { hash } from 'node:crypto';
import { sql } from 'kysely';
import { type Keyring, SealBroken } from '../../lib/seal.ts';
import { retagged } from '../engine/tags/tags.ts';
import type { Tx } from '../engine/tx.ts';
import type { LedgerEntry } from '../engine/ledger.ts';
import { hasChanged } from '../engine/rows.ts';
import type { ArtifactRow, CheckTargetRow, Db, Schema } from '../schema/schema.ts';
import {
  checkTargetLabel,
  planLabel,
  planViewLabel,
  SEALED_TABLES,
  type SealedTable,
  secretLabel,
  stateLabel,
  webhookKeyLabel,
} from './seal.ts';
import type { Store } from '../store.ts';

/** Moves the sealed rows of a store to a new key. */

/** Who requests it, for the ledger. */
type ResealBy = Pick<LedgerEntry, 'principal' | 'owner' | 'via'>;

interface Resealed {
  readonly count: number;
  /** The rows that could not be opened, and are left as they are: names for people. */
  readonly broken: readonly string[];
}

/** Writes a resealed row; false when it was changed or removed since. */
type Put = (tx: Tx, by: ResealBy) => Promise<boolean>;

/** A row under an old key. */
interface Old {
  readonly what: string;
  /** Throws SealBroken. */
  seal(ring: Keyring): Put;
}

/**
 * Rows that are read, opened and written together. A secret has 64 KiB at most. A state may have 128 MiB and a plan 64:
 * each is in memory three times (as read, in clear, sealed again), so that a process has memory for only one at a time.
 */
const BATCH_ROWS: Readonly<Record<SealedTable, number>> = {
  secrets: 64,
  states: 1,
  artifacts: 1,
  webhook_keys: 64,
  check_targets: 64,
};

type Read = (db: Db, keyIds: readonly string[], limit: number, skip: number) => Promise<Old[]>;

const READ: Readonly<Record<SealedTable, Read>> = {
  secrets: sealedRows('secrets', ['project', 'name'], secretLabel, (row) => `secret ${row.project}/${row.name}`),
  states: sealedRows(
    'states',
    ['workspace', 'version'],
    stateLabel,
    (row) => `state ${row.version} of workspace ${row.workspace}`,
  ),
  artifacts: oldRows('artifacts', ['id'], (row) => ({
    what: `plan ${row.id}`,
    seal: (ring) => sealArtifact(row, ring),
  })),
  webhook_keys: sealedRows(
    'webhook_keys',
    ['webhook'],
    webhookKeyLabel,
    (row) => `signing secret of webhook ${row.webhook}`,
  ),
  check_targets: oldRows('check_targets', ['check_name', 'name'], (row) => ({
    what: `credentials of target ${row.name} of check ${row.check_name}`,
    seal: (ring) => sealTarget(row, ring),
  })),
};

/** Reads the rows under old keys. `key` is the primary key of the table. */
function oldRows<T extends SealedTable>(
  table: T,
  key: readonly (string & keyof Schema[T])[],
  toOld: (row: Schema[T]) => Old,
): Read {
  return async (db, keyIds, limit, skip) => {
    const order = sql.join(key.map((column) => sql.ref(column)));
    const { rows } = await sql<Schema[T]>`select * from ${sql.table(table)} where key_id in (${sql.join(keyIds)})
      order by ${order} limit ${limit} offset ${skip}`.execute(db);
    return rows.map(toOld);
  };
}

/** As `oldRows`, of a table that seals one value in each row. */
function sealedRows<T extends Exclude<SealedTable, 'artifacts' | 'check_targets'>>(
  table: T,
  key: readonly (string & keyof Schema[T])[],
  labelOf: (row: Schema[T]) => readonly string[],
  what: (row: Schema[T]) => string,
): Read {
  const seal = (row: Schema[T], ring: Keyring): Put => {
    const sealed = ring.seal(labelOf(row), ring.open(labelOf(row), row.sealed));
    const hasKey = key.map((column) => sql`${sql.ref(column)} = ${row[column]}`);
    const isUnchanged = sql.join([...hasKey, sql`sealed = ${row.sealed}`], sql` and `);
    const set = sql`update ${sql.table(table)} set sealed = ${sealed}, key_id = ${ring.activeId} where ${isUnchanged}`;
    return async ({ db }) => (await set.execute(db)).numAffectedRows === 1n;
  };
  return oldRows(table, key, (row) => ({ what: what(row), seal: (ring) => seal(row, ring) }));
}

/**
 * Seals all rows under an older key of `ring` with the active key, in batches of one write each. Rows under a key that
 * is not here are left. After an interruption a second call continues with the others.
 */
export async function resealAll(store: Store, ring: Keyring, by: ResealBy): Promise<Resealed> {
  let count = 0;
  const rotation = { store, ring, by, broken: new Set<string>() };
  for (const table of SEALED_TABLES) {
    // Repeat while rows were found: a row may have been sealed with the older key in the mean time.
    for (let done = -1; done !== 0; count += done) done = await resealTable(rotation, table);
  }
  return { count, broken: [...rotation.broken] };
}

interface Rotation {
  readonly store: Store;
  readonly ring: Keyring;
  readonly by: ResealBy;
  /** See Resealed. */
  readonly broken: Set<string>;
}

async function resealTable(rotation: Rotation, table: SealedTable): Promise<number> {
  const { store, ring, by } = rotation;
  const keyIds = await oldKeyIds(store.db, ring, table);
  if (keyIds.length === 0) return 0;
  let [count, skip] = [0, 0];
  for (;;) {
    const batch = await READ[table](store.db, keyIds, BATCH_ROWS[table], skip);
    if (batch.length === 0) return count;
    const puts = batch.flatMap((row) => sealUnlessBroken(row, rotation));
    const done = await store.write(async (tx) => {
      let changed = 0;
      for (const put of puts) if (await put(tx, by)) changed += 1;
      return changed;
    });
    count += done;
    // The rows that keep their old key come first when the next batch is read.
    skip += batch.length - done;
  }
}

function sealUnlessBroken(row: Old, { ring, broken }: Rotation): Put[] {
  try {
    return [row.seal(ring)];
  } catch (error) {
    if (!(error instanceof SealBroken)) throw error;
    broken.add(row.what);
    return [];
  }
}

async function oldKeyIds(db: Db, ring: Keyring, table: SealedTable): Promise<string[]> {
  const rows = await db.selectFrom(table).select('key_id').distinct().execute();
  return rows.flatMap(({ key_id: keyId }) =>
    keyId !== null && keyId !== ring.activeId && ring.has(keyId) ? [keyId] : [],
  );
}

function sealTarget({ credentials: before, ...row }: CheckTargetRow, ring: Keyring): Put {
  if (before === null) throw new SealBroken('altered');
  const credentials = ring.seal(checkTargetLabel(row), ring.open(checkTargetLabel(row), before));
  return ({ db }) =>
    hasChanged(
      db
        .updateTable('check_targets')
        .set({ credentials, key_id: ring.activeId })
        .where('check_name', '=', row.check_name)
        .where('name', '=', row.name)
        .where('spec', '=', row.spec)
        .where('credentials', '=', before),
    );
}

/** The approvals of the plan name the new digest, with their tags. */
async function moveDigest(tx: Tx, { id, digest: before }: ArtifactRow, digest: string): Promise<void> {
  const asked = tx.db.selectFrom('approvals').selectAll().where('plan_artifact_id', '=', id);
  for (const approval of await tx.dialect.holdRows(asked.where('plan_digest', '=', before)).execute())
    await tx.db
      .updateTable('approvals')
      .set(retagged(tx.ring, 'approvals', approval, { plan_digest: digest }))
      .where('id', '=', approval.id)
      .execute();
}

/**
 * A saved plan is identified by the digest of its sealed bytes, in its row, in its approval and in the ledger. Sealed
 * again it has another digest: its row and its approval change with it, in one transaction, and the ledger gets a row
 * with both digests.
 */
function sealArtifact(row: ArtifactRow, ring: Keyring): Put {
  // An altered plan must not get a digest that makes it look unaltered.
  if (hash('sha256', row.sealed) !== row.digest) throw new SealBroken('altered');
  const sealed = ring.seal(planLabel(row), ring.open(planLabel(row), row.sealed));
  const view = ring.seal(planViewLabel(row), ring.open(planViewLabel(row), row.sealed_view));
  const resealed = { sealed, sealed_view: view, digest: hash('sha256', sealed), key_id: ring.activeId };
  return async (tx, by) => {
    const update = tx.db.updateTable('artifacts').set(resealed).where('id', '=', row.id);
    if (!(await hasChanged(update.where('digest', '=', row.digest).where('key_id', '=', row.key_id)))) return false;
    await moveDigest(tx, row, resealed.digest);
    tx.record({
      ...by,
      operation: 'seal.rotate',
      target: row.id,
      detail: { digest: resealed.digest, digest_before: row.digest },
    });
    return true;
  };
}
