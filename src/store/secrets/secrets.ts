import { createHash } from 'node:crypto';
import { Failure } from '../../domain/failure.ts';
import type { Keyring } from '../../lib/seal.ts';
import { found } from '../engine/rows.ts';
import type { Tx } from '../engine/tx.ts';
import type { Db, SecretRow } from '../schema/schema.ts';
import { openSealed, secretLabel } from './seal.ts';

/** A secret without its value. */
export type SecretFacts = Omit<SecretRow, 'sealed' | 'key_id'>;

const FACTS = [
  'project',
  'name',
  'version',
  'created_at',
  'updated_at',
] as const satisfies readonly (keyof SecretFacts)[];

export interface SecretName {
  readonly project: string;
  readonly name: string;
}

export function listSecrets(db: Db): Promise<SecretFacts[]> {
  return db.selectFrom('secrets').select(FACTS).orderBy('project').orderBy('name').execute();
}

/**
 * Keeps a value, sealed, as the next version of the secret. The value before it is gone then: one that had to be
 * replaced because it leaked must not linger. The version says which one a run got.
 */
export async function setSecret(
  tx: Tx,
  ring: Keyring,
  { project, name }: SecretName,
  value: Uint8Array,
): Promise<SecretFacts> {
  // Two that set it at once would seal for the same version, and the label of one would not fit its row.
  await tx.dialect.lockKey(tx.db, `secret:${project}/${name}`);
  const before = await named(tx.db.selectFrom('secrets').select(FACTS), { project, name }).executeTakeFirst();
  const facts: SecretFacts = {
    project,
    name,
    version: (before?.version ?? 0) + 1,
    created_at: before?.created_at ?? tx.now,
    updated_at: tx.now,
  };
  const content = { sealed: ring.seal(secretLabel(facts), value), key_id: ring.activeId };
  if (before === undefined) {
    await tx.db
      .insertInto('secrets')
      .values({ ...facts, ...content })
      .execute();
  } else {
    const { version, updated_at: updatedAt } = facts;
    await named(tx.db.updateTable('secrets').set({ version, updated_at: updatedAt, ...content }), {
      project,
      name,
    }).execute();
  }
  return facts;
}

/** The names of the secrets of a project, sorted. */
export async function listProjectSecrets(db: Db, project: string): Promise<string[]> {
  const rows = await db.selectFrom('secrets').select('name').where('project', '=', project).orderBy('name').execute();
  return rows.map(({ name }) => name);
}

/** Throws not_found, and conflict while it is the SSH key of an inventory. */
export async function removeSecret(tx: Tx, secret: SecretName): Promise<SecretFacts> {
  const reference = `${secret.project}/${secret.name}`;
  const users = tx.db.selectFrom('inventories').select('name').where('ssh_key', '=', reference).orderBy('name');
  const user = await users.limit(1).executeTakeFirst();
  if (user !== undefined)
    throw new Failure('conflict', `Inventory ${user.name} uses ${reference} as its SSH key; set another one first.`);
  const removed = await named(tx.db.deleteFrom('secrets'), secret).returning(FACTS).executeTakeFirst();
  return found(removed, 'secret', reference);
}

/** Variable to `<project>/<secret>`. */
type SecretRefs = Readonly<Record<string, string>>;

/**
 * The values of the secrets that a run was given, by variable, as they are at this moment. Throws not_found that names
 * the secret, and conflict for one that was altered or that no key here opens.
 */
export async function readSecrets(db: Db, ring: Keyring, refs: SecretRefs): Promise<Map<string, Buffer>> {
  const rows = await rowsOf(db, refs);
  const values = new Map<string, Buffer>();
  for (const [variable, ref] of Object.entries(refs)) {
    values.set(variable, opened(ring, found(rows.get(ref), 'secret', ref)));
  }
  return values;
}

/** The newest versions of those of these secrets that are there, by their reference. */
export async function secretVersions(db: Db, refs: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const rows = await rowsOf(db, Object.fromEntries(refs.map((ref) => [ref, ref])));
  return new Map([...rows].map(([ref, row]) => [ref, row.version]));
}

/** The values of those of these secrets that are there. */
export async function readKnownSecrets(db: Db, ring: Keyring, refs: readonly string[]): Promise<Buffer[]> {
  const rows = await rowsOf(db, Object.fromEntries(refs.map((ref) => [ref, ref])));
  return [...rows.values()].map((row) => opened(ring, row));
}

/** All secrets as they are stored at one moment. */
interface StoredSecrets {
  /** Another one where a secret is another one. */
  readonly stamp: string;
  /** Their values. Without any the key is not asked for. Throws as `readSecrets` does. */
  open(keyring: () => Promise<Keyring>): Promise<Buffer[]>;
}

export async function storedSecrets(db: Db): Promise<StoredSecrets> {
  const rows = await db.selectFrom('secrets').selectAll().orderBy('project').orderBy('name').execute();
  const digest = createHash('sha256');
  for (const { project, name, version, sealed } of rows)
    digest.update(`${project}/${name} ${version} ${sealed.length} `).update(sealed);
  return {
    stamp: digest.digest('hex'),
    async open(keyring) {
      if (rows.length === 0) return [];
      const ring = await keyring();
      return rows.map((row) => opened(ring, row));
    },
  };
}

/** Throws not_found that names the first of these secrets that is not there. */
export async function requireSecrets(db: Db, refs: SecretRefs): Promise<void> {
  const rows = await rowsOf(db, refs);
  for (const ref of Object.values(refs)) found(rows.get(ref), 'secret', ref);
}

async function rowsOf(db: Db, refs: SecretRefs): Promise<Map<string, SecretRow>> {
  const wanted = [...new Set(Object.values(refs))].map(parts);
  if (wanted.length === 0) return new Map();
  const rows = await db
    .selectFrom('secrets')
    .selectAll()
    .where((eb) =>
      eb.or(wanted.map(({ project, name }) => eb.and([eb('project', '=', project), eb('name', '=', name)]))),
    )
    .execute();
  return new Map(rows.map((row) => [`${row.project}/${row.name}`, row]));
}

function parts(ref: string): SecretName {
  const [project = '', name = ''] = ref.split('/');
  return { project, name };
}

function opened(ring: Keyring, row: SecretRow): Buffer {
  return Buffer.from(
    openSealed(ring, secretLabel(row), row.sealed, `the secret ${row.project}/${row.name} cannot be used`),
  );
}

/** The query, for the one row of this name. */
function named<Q extends { where(column: 'project' | 'name', operator: '=', value: string): Q }>(
  query: Q,
  { project, name }: SecretName,
): Q {
  return query.where('project', '=', project).where('name', '=', name);
}
