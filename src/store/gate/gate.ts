import type { RunApproval, RunFacts } from '../../domain/gate/run-approval.ts';
import { needsApproval, STRICT, UNSET } from '../../domain/gate/run-approval.ts';
import { LOCALHOST } from '../../domain/inventories/inventory.ts';
import { prepared } from '../engine/prepared.ts';
import type { Adoption } from '../engine/tags/adoption.ts';
import { passesTag, type TagReader, tagOf } from '../engine/tags/tags.ts';
import type { Tx } from '../engine/tx.ts';
import { rowBy } from '../engine/rows.ts';
import type { GateRow, InventoryRow, RunApprovalColumns, WorkspaceRow } from '../schema/schema.ts';

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

/** Without the model, which has megabytes for thousands of hosts. */
const INVENTORY_COLUMNS = [
  'name',
  'digest',
  'ssh_key',
  'created_at',
  'approve_runs',
  'except_check',
  'order_tag',
  'order_key_id',
] as const;
type InventorySetting = Pick<InventoryRow, (typeof INVENTORY_COLUMNS)[number]>;

const findInventory = prepared<{ name: string }, InventorySetting>((db, value) =>
  db.selectFrom('inventories').select(INVENTORY_COLUMNS).where('name', '=', value('name')),
);

const findInventoryRow = rowBy('inventories', 'name');
const findSource = rowBy('sources', 'name');

/** Inventories of a store whose tags were right, by all of their columns but the model: a run checks that. */
const CHECKED = new WeakMap<Adoption, Set<string>>();
const CHECKED_MAX = 1_000;

export async function findGate(on: TagReader): Promise<ServiceGate> {
  const [row] = (await findRow(on.db, {})).rows;
  if (row === undefined) return OPEN;
  const set = { at: row.set_at, by: row.set_by };
  if (!(await passesTag(on, 'gate', row))) return { isStrict: true, set, localhost: STRICT, isChanged: true };
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
export async function strictRefusal(on: TagReader, workspace: WorkspaceRow): Promise<string | null> {
  if (!(await findGate(on)).isStrict) return null;
  const { name, unprotected } = workspace;
  if (unprotected === 1 && (await passesTag(on, 'workspaces', workspace))) return null;
  return (
    `the gate is strict, and workspace ${name} has neither an apply without a saved plan nor a destroy: apply a ` +
    `saved plan by its id (art_…), or allow both with svc workspace update ${name} --unprotected`
  );
}

/** What a run uses: `source` is null without one. */
interface RunPlace {
  readonly inventory: string;
  readonly source: string | null;
}

/** Whether an inventory or a source asks for an approval of a run. A row that somebody has changed asks for each. */
export async function asksForApproval(on: TagReader, { inventory, source }: RunPlace, run: RunFacts): Promise<boolean> {
  const gate = await findGate(on);
  const unset = gate.isStrict ? STRICT : UNSET;
  const ofInventory = inventory === LOCALHOST ? gate.localhost : await inventorySetting(on, inventory);
  if (needsApproval(ofInventory ?? unset, run)) return true;
  return source !== null && needsApproval((await sourceSetting(on, source)) ?? unset, run);
}

async function inventorySetting(on: TagReader, name: string): Promise<RunApproval | null> {
  const [columns] = (await findInventory(on.db, { name })).rows;
  if (columns === undefined) return null;
  const key = JSON.stringify(INVENTORY_COLUMNS.map((column) => columns[column]));
  const checked = CHECKED.get(on.adoption) ?? new Set<string>();
  if (checked.has(key)) return runApprovalIn(columns);
  const row = await findInventoryRow(on.db, name);
  if (row === undefined || !(await passesTag(on, 'inventories', row))) return STRICT;
  if (checked.size >= CHECKED_MAX) checked.clear();
  // One of an earlier build has no tag yet, and may lose what it is taken for.
  if (columns.order_tag !== null) CHECKED.set(on.adoption, checked.add(key));
  return runApprovalIn(row);
}

async function sourceSetting(on: TagReader, name: string): Promise<RunApproval | null> {
  const row = await findSource(on.db, name);
  if (row === undefined) return null;
  return (await passesTag(on, 'sources', row)) ? runApprovalIn(row) : STRICT;
}

/** What is set; the rest stays as it was. */
interface GateChange {
  readonly by: string;
  readonly isStrict?: boolean;
  readonly localhost?: RunApproval | undefined;
}

/** Of a row that somebody changed, the rest stays as it counts: closed. */
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
  await tx.db
    .insertInto('gate')
    .values(tagged)
    .onConflict((conflict) => conflict.column('id').doUpdateSet(tagged))
    .execute();
}
