import type { RunApproval, RunFacts } from '../../domain/gate/run-approval.ts';
import { needsApproval, STRICT, UNSET } from '../../domain/gate/run-approval.ts';
import { LOCALHOST } from '../../domain/inventories/inventory.ts';
import { prepared } from '../engine/prepared.ts';
import { passesTag, type TagReader, tagOf } from '../engine/tags/tags.ts';
import type { Tx } from '../engine/tx.ts';
import type { GateRow, RunApprovalColumns, WorkspaceRow } from '../schema/schema.ts';

/** What was set for the whole service. */
interface ServiceGate {
  readonly isStrict: boolean;
  /** When and by whom something was last set; null where nothing was. */
  readonly set: { readonly at: number; readonly by: string } | null;
  /** Of runs on this machine; null where it is not set. */
  readonly localhost: RunApproval | null;
  /** Somebody has changed the row in the database: it counts as strict. */
  readonly isChanged: boolean;
}

const OPEN: ServiceGate = { isStrict: false, set: null, localhost: null, isChanged: false };

const findRow = prepared<object, GateRow>((db) => db.selectFrom('gate').selectAll().where('id', '=', 1));

const findInventory = prepared<{ name: string }, RunApprovalColumns>((db, value) =>
  db.selectFrom('inventories').select(['approve_runs', 'except_check']).where('name', '=', value('name')),
);

const findSource = prepared<{ name: string }, RunApprovalColumns>((db, value) =>
  db.selectFrom('sources').select(['approve_runs', 'except_check']).where('name', '=', value('name')),
);

export async function findGate(on: TagReader): Promise<ServiceGate> {
  const [row] = (await findRow(on.db, {})).rows;
  if (row === undefined) return OPEN;
  const set = { at: row.set_at, by: row.set_by };
  if (!(await passesTag(on, 'gate', row))) return { isStrict: true, set, localhost: null, isChanged: true };
  const localhost = runApprovalIn({ approve_runs: row.localhost_runs, except_check: row.localhost_except_check });
  return { isStrict: row.strict === 1, set, localhost, isChanged: false };
}

/** Null where it is not set. */
export function runApprovalIn({ approve_runs: runs, except_check: check }: RunApprovalColumns): RunApproval | null {
  return runs === null ? null : { runs, exceptCheck: check === 1 };
}

/** Of a new object. */
export const NO_RUN_APPROVAL: RunApprovalColumns = { approve_runs: null, except_check: null };

/** Undefined changes nothing. */
export function runApprovalColumns(set: RunApproval | undefined): Partial<RunApprovalColumns> {
  return set === undefined ? {} : { approve_runs: set.runs, except_check: set.exceptCheck ? 1 : 0 };
}

/** Why a strict service refuses an apply without a saved plan, or a destroy; null where it may be. */
export async function strictRefusal(
  on: TagReader,
  { name, unprotected }: Pick<WorkspaceRow, 'name' | 'unprotected'>,
): Promise<string | null> {
  if (unprotected === 1 || !(await findGate(on)).isStrict) return null;
  return (
    `the gate is strict, and workspace ${name} takes saved plans only: make a plan and apply it by its id (art_…), ` +
    `or allow it with svc workspace update ${name} --unprotected`
  );
}

/** What a run uses: `source` is null without one. */
interface RunPlace {
  readonly inventory: string;
  readonly source: string | null;
}

/**
 * Whether an inventory or a source asks for an approval of a run. The rows of the two are not checked here: a run
 * checks their tags before it uses them.
 */
export async function asksForApproval(on: TagReader, { inventory, source }: RunPlace, run: RunFacts): Promise<boolean> {
  const gate = await findGate(on);
  const unset = gate.isStrict ? STRICT : UNSET;
  const ofInventory =
    inventory === LOCALHOST ? gate.localhost : await settingOf(findInventory(on.db, { name: inventory }));
  if (needsApproval(ofInventory ?? unset, run)) return true;
  if (source === null) return false;
  return needsApproval((await settingOf(findSource(on.db, { name: source }))) ?? unset, run);
}

async function settingOf(
  found: Promise<{ readonly rows: readonly RunApprovalColumns[] }>,
): Promise<RunApproval | null> {
  const [row] = (await found).rows;
  return row === undefined ? null : runApprovalIn(row);
}

/** What is set; the rest stays as it was. */
interface GateChange {
  readonly by: string;
  readonly isStrict?: boolean;
  readonly localhost?: RunApproval | undefined;
}

/** Throws forbidden where somebody has changed the row, unless `isStrict` says what it is from now on. */
export async function setGate(tx: Tx, { by, isStrict, localhost }: GateChange): Promise<void> {
  await tx.dialect.lockKey(tx.db, 'gate');
  const before = await findGate(tx);
  const ofLocalhost = { ...NO_RUN_APPROVAL, ...runApprovalColumns(localhost ?? before.localhost ?? undefined) };
  const row = {
    id: 1 as const,
    strict: (isStrict ?? before.isStrict) ? (1 as const) : (0 as const),
    set_at: tx.now,
    set_by: by,
    localhost_runs: ofLocalhost.approve_runs,
    localhost_except_check: ofLocalhost.except_check,
  };
  const tagged = { ...row, ...tagOf(tx.ring, 'gate', row) };
  const { id, ...columns } = tagged;
  await tx.db
    .insertInto('gate')
    .values({ id, ...columns })
    .onConflict((conflict) => conflict.column('id').doUpdateSet(columns))
    .execute();
}
