import type { CheckKind, ProbeDetail, TargetStatus } from '../../domain/checks/check.ts';
import type { SweepState } from '../../domain/checks/sweep/observe.ts';
import { nextTurn } from '../../lib/flow/cooperative.ts';
import { fromJson, toJson } from '../../lib/json.ts';
import { sumOf } from '../engine/counts.ts';
import { prepared } from '../engine/prepared.ts';
import type { Tx } from '../engine/tx.ts';
import type { CheckRow, CheckTargetRow, Db } from '../schema/schema.ts';

/** What the sweep reads of checks and writes to them. */

/** Changes with every change that a user makes to the checks. */
export async function checksMark(db: Db): Promise<string> {
  const { count, revisions, updated } = await db
    .selectFrom('checks')
    .select((eb) => [
      eb.fn.countAll<number>().as('count'),
      sumOf('revision').as('revisions'),
      eb.fn.max('updated_at').as('updated'),
    ])
    .executeTakeFirstOrThrow();
  return `${count} ${revisions} ${updated}`;
}

/** Whether any check is enabled. */
export async function hasChecks(db: Db): Promise<boolean> {
  return (await anyCheck(db, {})).rows.length > 0;
}

const anyCheck = prepared<object, Pick<CheckRow, 'name'>>((db) =>
  db.selectFrom('checks').select('name').where('enabled', '=', 1).limit(1),
);

export interface SweptCheck {
  readonly name: string;
  readonly kind: CheckKind;
  readonly intervalMs: number;
  readonly options: CheckRow['options'];
  readonly revision: number;
  readonly createdAt: number;
}

/** The checks that are probed. */
export async function listSweptChecks(db: Db): Promise<SweptCheck[]> {
  const rows = await db
    .selectFrom('checks')
    .select(['name', 'kind', 'interval_ms', 'options', 'revision', 'created_at'])
    .where('enabled', '=', 1)
    .orderBy('name')
    .execute();
  return rows.map(({ interval_ms: intervalMs, created_at: createdAt, ...row }) => ({ ...row, intervalMs, createdAt }));
}

/** Targets read at a time: on SQLite reading takes the thread (10,000 at once took 50 ms). */
const TARGETS_READ = 250;

const targetsOf = prepared<{ check: string; after: string }, CheckTargetRow>((db, value) =>
  db
    .selectFrom('check_targets')
    .selectAll()
    .where('check_name', '=', value('check'))
    .where('name', '>', value('after'))
    .orderBy('name')
    .limit(TARGETS_READ),
);

/**
 * The targets of a check, in slices between which others have their turn. A change in the mean time may be seen in
 * part: it changes the revision of its check too.
 */
export async function* sweptTargets(db: Db, check: string): AsyncGenerator<readonly CheckTargetRow[]> {
  for (let after = ''; ;) {
    const { rows } = await targetsOf(db, { check, after });
    yield rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < TARGETS_READ) return;
    after = last.name;
    await nextTurn();
  }
}

/** The state of a target as it is stored. */
interface StoredState {
  readonly status: TargetStatus;
  readonly wasUp: 0 | 1;
  readonly lastChange: number | null;
  /** JSON of the parts of the state that only the sweep reads; null without any. */
  readonly pending: CheckTargetRow['pending'];
  readonly durationMs: number | null;
  readonly detail: ProbeDetail | null;
  readonly certificateDays: number | null;
}

/** A state to store in place of one with the status `from`, or `orFrom`. */
export interface KeptState extends StoredState {
  readonly check: string;
  readonly target: string;
  readonly from: TargetStatus;
  readonly orFrom: TargetStatus;
}

const keepState = prepared<KeptState, unknown>((db, value) =>
  db
    .updateTable('check_targets')
    .set({
      status: value('status'),
      was_up: value('wasUp'),
      last_change: value('lastChange'),
      pending: value('pending'),
      duration_ms: value('durationMs'),
      detail: value('detail'),
      certificate_days: value('certificateDays'),
    })
    .where('check_name', '=', value('check'))
    .where('name', '=', value('target'))
    .where('status', 'in', [value('from'), value('orFrom')]),
);

/** Keeps a state; false where the target is gone, or has another status: then nothing was written. */
export async function keepTargetState(tx: Tx, state: KeptState): Promise<boolean> {
  return (await keepState(tx.db, state)).changed > 0;
}

/** As `keepTargetState`, where the answer is not needed. */
export function keepTargetStateLater(tx: Tx, state: KeptState): void {
  tx.later(keepState(tx.db, state));
}

export function pendingOf({ disagreeing, withheld }: SweepState): CheckTargetRow['pending'] {
  return disagreeing.length === 0 && withheld === null ? null : toJson({ disagreeing, withheld });
}

/** The state of a stored target. Throws where somebody wrote into the database. */
export function stateOf({ status, last_change: lastChange, pending }: CheckTargetRow): SweepState {
  const parts: Partial<SweepState> = pending === null ? {} : fromJson(pending);
  const { disagreeing = [], withheld = null } = parts;
  if (!areTimes(disagreeing) || (withheld !== null && !areTimes(withheld)))
    throw new Error('its last observations are no times');
  return { status, lastChange, disagreeing, withheld };
}

/** The last millisecond of the calendar: of another one no event can tell. */
const TIME_MAX_MS = 8_640_000_000_000_000;

function areTimes(list: readonly unknown[]): boolean {
  return Array.isArray(list) && list.every((at) => typeof at === 'number' && Math.abs(at) <= TIME_MAX_MS);
}
