import { addressOfTarget, showOptions } from '../../domain/checks/kinds.ts';
import { formatDuration } from '../../domain/duration.ts';
import type { NetgroupIndex } from '../../domain/netgroups/netgroup.ts';
import { rfc3339 } from '../../lib/clock.ts';
import { requestTurn } from '../../lib/flow/cooperative.ts';
import { fromJson } from '../../lib/json.ts';
import { listChecks } from '../../store/checks/checks.ts';
import { countTargets, listTargets, listTargetsFrom, type TargetState } from '../../store/checks/targets.ts';
import type { CheckRow, Db } from '../../store/schema/schema.ts';
import type { Context } from '../core/operation.ts';
import type { ViewData, ViewItem } from '../../views/views.ts';

/** Checks read at a time, and the targets of one batch of a list. A check with more is a batch alone. */
const CHECKS_READ = 100;
const BATCH_TARGETS = 1_000;
/** Targets of such a check read at a time. On SQLite reading takes the thread: 10,000 at once took 50 ms. */
const SLICE_TARGETS = 500;

/** What a view needs besides the rows. */
export interface ViewParts {
  /** By the clock of deadlines in the store: a snooze that has ended is not shown. */
  readonly now: number;
  readonly netgroups: NetgroupIndex;
  /** With what the last probe of each target found: only where one check is shown by itself. */
  readonly withDetail?: true;
}

export async function viewParts({ store, services }: Context): Promise<ViewParts> {
  const now = await store.dialect.clock(store.db, services.clock.now());
  return { now, netgroups: await services.netgroups.current() };
}

export async function checkView(db: Db, row: CheckRow, parts: ViewParts): Promise<ViewData<'check.get'>> {
  return { ...headOf(row), targets: await targetViews(db, row, parts), ...ownOf(row) };
}

/** Others have their turn in between, so a change of the check in the mean time may be shown in part. */
async function targetViews(db: Db, row: CheckRow, parts: ViewParts): Promise<TargetView[]> {
  const found: { readonly position: number; readonly view: TargetView }[] = [];
  for (let after = ''; ;) {
    const slice = await listTargetsFrom(db, row.name, after, SLICE_TARGETS);
    for (const target of slice) found.push({ position: target.position, view: targetView(row, target, parts) });
    const last = slice.at(-1);
    if (last === undefined || slice.length < SLICE_TARGETS) break;
    after = last.name;
    await requestTurn();
  }
  return found.toSorted((a, b) => a.position - b.position).map(({ view }) => view);
}

/** All checks by name, in batches. */
export async function* checkBatches(db: Db, parts: ViewParts): AsyncGenerator<ViewItem<'check.list'>[]> {
  for (let after = ''; ;) {
    const rows = await listChecks(db, CHECKS_READ, after);
    const last = rows.at(-1);
    if (last === undefined) return;
    const counts = await countTargets(db, namesOf(rows));
    for (const some of grouped(rows, counts)) {
      yield await viewsOf(db, some, counts, parts);
      await requestTurn();
    }
    if (rows.length < CHECKS_READ) return;
    after = last.name;
  }
}

/** Groups neighbours that have no more than the targets of a batch. */
function grouped(rows: readonly CheckRow[], counts: ReadonlyMap<string, number>): CheckRow[][] {
  const groups: CheckRow[][] = [];
  let room = 0;
  for (const row of rows) {
    const count = counts.get(row.name) ?? 0;
    if (count > room) {
      groups.push([]);
      room = BATCH_TARGETS;
    }
    groups.at(-1)?.push(row);
    room -= count;
  }
  return groups;
}

function namesOf(rows: readonly CheckRow[]): string[] {
  return rows.map(({ name }) => name);
}

async function viewsOf(
  db: Db,
  rows: readonly CheckRow[],
  counts: ReadonlyMap<string, number>,
  parts: ViewParts,
): Promise<ViewItem<'check.list'>[]> {
  const [first] = rows;
  if (first !== undefined && (counts.get(first.name) ?? 0) > BATCH_TARGETS) return [await checkView(db, first, parts)];
  const targets = Map.groupBy(await listTargets(db, namesOf(rows)), (target) => target.check_name);
  return rows.map((row) => ({
    ...headOf(row),
    targets: (targets.get(row.name) ?? []).map((target) => targetView(row, target, parts)),
    ...ownOf(row),
  }));
}

function headOf({ name, kind, interval_ms: ms, enabled }: CheckRow) {
  return { name, kind, interval: formatDuration(ms), enabled: enabled === 1 };
}

function ownOf(row: CheckRow) {
  return showOptions(row.kind, fromJson(row.options));
}

type TargetView = ViewData<'check.get'>['targets'][number];

function targetView(
  { kind }: CheckRow,
  { name, spec, status, duration_ms, last_change: change, snoozed_until: until, detail, was_up }: TargetState,
  { now, netgroups, withDetail }: ViewParts,
): TargetView {
  const address = addressOfTarget(kind, spec);
  return {
    name,
    status,
    ...(address === null ? {} : { netgroup: netgroups.classify(address) }),
    duration_ms,
    last_change: change === null ? null : rfc3339(change),
    ...(until !== null && until > now ? { snoozed_until: rfc3339(until) } : {}),
    ...(withDetail === true && detail !== null ? { detail } : {}),
    ...(status === 'down' && was_up === 0 ? { never_up: true as const } : {}),
  };
}
