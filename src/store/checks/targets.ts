import { sql } from 'kysely';
import type { TargetStatus } from '../../domain/checks/check.ts';
import type { Target } from '../../domain/checks/target.ts';
import { withCredentials } from '../../domain/checks/url.ts';
import { nextTurn } from '../../lib/flow/cooperative.ts';
import type { Keyring } from '../../lib/seal.ts';
import { countOf } from '../engine/rows.ts';
import type { Tx } from '../engine/tx.ts';
import type { CheckTargetRow, Db } from '../schema/schema.ts';
import { checkTargetLabel, openSealed } from '../secrets/seal.ts';

/** Rows of one statement: on SQLite it takes the thread, and others have their turn after it (1,000 took 10 ms). */
const STATEMENT_ROWS = 500;
/** Rows that one statement removes, which costs a tenth: other writes wait for each turn of others in between. */
const REMOVED_ROWS = 2_000;

/** What a view says of a target, and what finds its netgroup. */
const STATE = [
  'check_name',
  'name',
  'position',
  'spec',
  'status',
  'duration_ms',
  'last_change',
  'snoozed_until',
  'detail',
  'was_up',
] as const satisfies readonly (keyof CheckTargetRow)[];

export type TargetState = Pick<CheckTargetRow, (typeof STATE)[number]>;

/** The definition of a target, as it is stored. */
export type TargetDefinition = Pick<
  CheckTargetRow,
  'check_name' | 'name' | 'position' | 'spec' | 'credentials' | 'key_id'
> & { readonly status: 'unknown'; readonly was_up: 0 };

/** Of these checks, by check and in the order of their definition. */
export function listTargets(db: Db, checks: readonly string[]): Promise<TargetState[]> {
  return db
    .selectFrom('check_targets')
    .select(STATE)
    .where('check_name', 'in', checks)
    .orderBy('check_name')
    .orderBy('position')
    .execute();
}

/** Of one check by name, from the one behind `after` on. */
export function listTargetsFrom(db: Db, check: string, after: string, limit: number): Promise<TargetState[]> {
  const query = db.selectFrom('check_targets').select(STATE).where('check_name', '=', check);
  return query.where('name', '>', after).orderBy('name').limit(limit).execute();
}

/** What a probe needs of a target. */
export type ProbedTarget = Pick<CheckTargetRow, 'check_name' | 'name' | 'spec' | 'credentials'>;

/** The targets of a check in the order of their definition, or only the one with this name. */
export function listProbed(db: Db, check: string, target: string | null): Promise<ProbedTarget[]> {
  const query = db
    .selectFrom('check_targets')
    .select(['check_name', 'name', 'spec', 'credentials'])
    .where('check_name', '=', check)
    .orderBy('position');
  return (target === null ? query : query.where('name', '=', target)).execute();
}

/** How many targets each of these checks has. */
export async function countTargets(db: Db, checks: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const rows = await db
    .selectFrom('check_targets')
    .select((eb) => ['check_name' as const, eb.fn.countAll<number>().as('count')])
    .where('check_name', 'in', checks)
    .groupBy('check_name')
    .execute();
  return new Map(rows.map((row) => [row.check_name, row.count]));
}

/** How many targets of these enabled checks have each status. */
export function countStatuses(
  db: Db,
  checks: readonly string[],
): Promise<{ check_name: string; status: TargetStatus; count: number }[]> {
  return db
    .selectFrom('check_targets')
    .innerJoin('checks', 'checks.name', 'check_targets.check_name')
    .select((eb) => ['check_name' as const, 'status' as const, eb.fn.countAll<number>().as('count')])
    .where('check_name', 'in', checks)
    .where('checks.enabled', '=', 1)
    .groupBy(['check_name', 'status'])
    .execute();
}

/** Targets of enabled checks that are down and were never up. */
function neverUp(db: Db) {
  return db
    .selectFrom('check_targets')
    .innerJoin('checks', 'checks.name', 'check_targets.check_name')
    .where('checks.enabled', '=', 1)
    .where('check_targets.status', '=', 'down')
    .where('check_targets.was_up', '=', 0);
}

export function listNeverUp(db: Db, limit: number): Promise<TargetState[]> {
  return neverUp(db)
    .select(STATE.map((column) => `check_targets.${column}` as const))
    .orderBy('check_targets.check_name')
    .orderBy('check_targets.position')
    .limit(limit)
    .execute();
}

export function countNeverUp(db: Db): Promise<number> {
  return countOf(neverUp(db));
}

/** The stored form of a target: its credentials are sealed. */
export function sealTarget(ring: Keyring, check: string, position: number, target: Target): TargetDefinition {
  const { name, spec, credentials } = target;
  const row = { check_name: check, name, position, spec, status: 'unknown' as const, was_up: 0 as const };
  if (credentials === null) return { ...row, credentials: null, key_id: null };
  return { ...row, credentials: ring.seal(checkTargetLabel(row), Buffer.from(credentials)), key_id: ring.activeId };
}

/** What a probe dials: the specification with its credentials. Throws conflict where they cannot be opened. */
export function openTarget(ring: Keyring, { credentials: sealed, ...row }: ProbedTarget): string {
  if (sealed === null) return row.spec;
  const what = `the target ${row.name} of check ${row.check_name} cannot be probed`;
  const credentials = Buffer.from(openSealed(ring, checkTargetLabel(row), sealed, what)).toString();
  return withCredentials({ spec: row.spec, credentials });
}

/** Gives a new check its targets. */
export async function insertTargets(tx: Tx, targets: readonly TargetDefinition[]): Promise<void> {
  for (const rows of slices(targets)) {
    await tx.db.insertInto('check_targets').values(rows).execute();
    await nextTurn();
  }
}

/** Removes all targets of a check. */
export async function deleteTargets({ db }: Tx, check: string): Promise<void> {
  const ofCheck = db.selectFrom('check_targets').select('name').where('check_name', '=', check).orderBy('name');
  for (;;) {
    const names = (await ofCheck.limit(REMOVED_ROWS).execute()).map(({ name }) => name);
    if (names.length === 0) return;
    await deleteNamed(db, check, names);
    if (names.length < REMOVED_ROWS) return;
    await nextTurn();
  }
}

async function deleteNamed(db: Db, check: string, names: readonly string[]): Promise<void> {
  await db.deleteFrom('check_targets').where('check_name', '=', check).where('name', 'in', names).execute();
}

/**
 * Replaces the targets of a check. A target whose name remains keeps its state; with another specification it needs as
 * many agreeing observations as before, and those of the old specification do not count. The check is held.
 */
export async function replaceTargets(
  tx: Tx,
  check: string,
  targets: readonly TargetDefinition[],
): Promise<{ readonly added: number; readonly removed: number }> {
  const stored = await holdTargets(tx, check);
  const before = new Map(stored.map((row) => [row.name, row]));
  const names = new Set(targets.map(({ name }) => name));
  const gone = stored.filter(({ name }) => !names.has(name)).map(({ name }) => name);
  for (const some of slices(gone, REMOVED_ROWS)) {
    await deleteNamed(tx.db, check, some);
    await nextTurn();
  }
  const changed = targets.filter((target) => !isSame(target, before.get(target.name)));
  for (const rows of slices(changed.toSorted((a, b) => (a.name < b.name ? -1 : 1)))) {
    await putTargets(tx, rows);
    await nextTurn();
  }
  return { added: targets.filter(({ name }) => !before.has(name)).length, removed: gone.length };
}

/** In the order of the names, like every write of several targets: two writes of the same rows do not deadlock. */
async function holdTargets({ db, dialect }: Tx, check: string) {
  const query = db.selectFrom('check_targets').select(['name', 'position', 'spec', 'credentials']);
  const ofCheck = query.where('check_name', '=', check).orderBy('name').limit(STATEMENT_ROWS);
  const stored: Awaited<ReturnType<typeof ofCheck.execute>> = [];
  for (let after = ''; ;) {
    const slice = await dialect.holdRows(ofCheck.where('name', '>', after)).execute();
    stored.push(...slice);
    const last = slice.at(-1);
    if (last === undefined || slice.length < STATEMENT_ROWS) return stored;
    after = last.name;
    await nextTurn();
  }
}

function isSame(
  target: TargetDefinition,
  before: Pick<TargetDefinition, 'position' | 'spec' | 'credentials'> | undefined,
): boolean {
  const hasCredentials = target.credentials !== null || before?.credentials !== null;
  return !hasCredentials && target.spec === before.spec && target.position === before.position;
}

async function putTargets(tx: Tx, rows: readonly TargetDefinition[]): Promise<void> {
  await tx.db
    .insertInto('check_targets')
    .values(rows)
    .onConflict((conflict) =>
      conflict.columns(['check_name', 'name']).doUpdateSet((eb) => ({
        position: eb.ref('excluded.position'),
        spec: eb.ref('excluded.spec'),
        credentials: eb.ref('excluded.credentials'),
        key_id: eb.ref('excluded.key_id'),
        pending: sql<CheckTargetRow['pending']>`case when ${eb.ref('check_targets.spec')} = ${eb.ref('excluded.spec')}
          then ${eb.ref('check_targets.pending')} end`,
      })),
    )
    .execute();
}

function slices<T>(all: readonly T[], size = STATEMENT_ROWS): T[][] {
  const count = Math.ceil(all.length / size);
  return Array.from({ length: count }, (_, at) => all.slice(at * size, (at + 1) * size));
}

/** Sets or ends the snooze of one target or of all; how many that are. */
export async function snoozeTargets(
  tx: Tx,
  check: string,
  target: string | null,
  until: number | null,
): Promise<number> {
  const update = tx.db.updateTable('check_targets').set({ snoozed_until: until }).where('check_name', '=', check);
  const one = target === null ? update : update.where('name', '=', target);
  return Number((await one.executeTakeFirst()).numUpdatedRows);
}
