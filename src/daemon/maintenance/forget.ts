import type { Clock } from '../../lib/clock.ts';
import type { Tx } from '../../store/engine/tx.ts';
import { type AgedTable, idsBetween, removableAmong, removeRows, removeSomeOf } from '../../store/old-rows.ts';
import { noteShortened, takeTurn } from '../../store/maintenance/retention-turn.ts';
import type { Store } from '../../store/store.ts';
import { rest } from './rest.ts';

export interface ForgetDeps {
  readonly store: Store;
  readonly clock: Clock;
  /** The id of this daemon: one at a time deletes. */
  readonly self: () => string;
}

/** Parts of a job that one write deletes: a part may be 64 KiB and more. */
const PARTS = 100;

/** Deletes the old rows of a table which nothing needs, the oldest first. Returns their number. */
export async function forgetOld(
  deps: ForgetDeps,
  table: AgedTable,
  keptMs: number,
  signal: AbortSignal | undefined,
): Promise<number> {
  const { store, clock } = deps;
  if (keptMs === 0) return 0;
  const before = clock.now() - keptMs;
  const isEnded = (): boolean => signal?.aborted === true;
  let count = 0;
  for (let after = ''; !isEnded();) {
    const beganAt = clock.monotonic();
    const ids = await idsBetween(store.db, table, after, before);
    after = ids.at(-1) ?? '';
    if (after === '') break;
    const old = await removableAmong(store.db, table, ids, before);
    await rest(clock, beganAt, signal);
    const removed = old.length === 0 ? 0 : await forgetRows(deps, { table, ids: old, before }, signal);
    if (removed === null) break;
    count += removed;
  }
  return count;
}

interface Batch {
  readonly table: AgedTable;
  readonly ids: readonly string[];
  readonly before: number;
}

/** Null while another daemon deletes. Rests after each write: a pause is never counted as work. */
async function forgetRows(deps: ForgetDeps, batch: Batch, signal: AbortSignal | undefined): Promise<number | null> {
  const { store, clock } = deps;
  const { table } = batch;
  const isEnded = (): boolean => signal?.aborted === true;
  for (const part of table.parts) {
    for (let more = true; more && !isEnded();) {
      const beganAt = clock.monotonic();
      const result = await store.write((tx) => inTurn(deps, tx, batch, (ids) => removeSomeOf(tx, part, ids, PARTS)));
      if (result === null) return null;
      more = result;
      if (more) await rest(clock, beganAt, signal);
    }
  }
  if (isEnded()) return 0;
  const beganAt = clock.monotonic();
  const count = await store.write((tx) =>
    inTurn(deps, tx, batch, async (ids) => {
      if (ids.length === 0) return 0;
      await removeRows(tx, table, ids);
      await noteShortened(tx, table.name, ids.length);
      return ids.length;
    }),
  );
  await rest(clock, beganAt, signal);
  return count;
}

/** Calls `remove` with what may still be deleted: a job may have been queued again since it was read. */
async function inTurn<T>(
  { self }: ForgetDeps,
  tx: Tx,
  { table, ids, before }: Batch,
  remove: (ids: readonly string[]) => Promise<T>,
): Promise<T | null> {
  if (!(await takeTurn(tx, table.name, self()))) return null;
  if (table.namedUnder !== null) await tx.dialect.lockKey(tx.db, table.namedUnder);
  return remove(await removableAmong(tx.db, table, ids, before));
}

/** Gives free pages of the file back, a few in each write. */
export async function giveBack({ store, clock }: ForgetDeps, signal: AbortSignal | undefined): Promise<void> {
  const isEnded = (): boolean => signal?.aborted === true;
  for (let more = true; more && !isEnded();) {
    const beganAt = clock.monotonic();
    more = await store.write(({ db, dialect }) => dialect.shrink(db));
    if (more) await rest(clock, beganAt, signal);
  }
}
