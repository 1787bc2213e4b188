import {
  type Day,
  DAY_MS,
  dayOf,
  type DaySlot,
  rangeEndMs,
  rangeStartMs,
  SLOT_MS,
  SLOTS_PER_RANGE_SET,
} from './day.ts';

/** A stored day of a target. */
export interface StoredDay {
  readonly day: number;
  readonly up: number;
  readonly down: number;
  readonly missed: number;
  /** Of the last two days. */
  readonly detail: Day | null;
}

/** Shares of the observations that were up, from 0 to 1; null without an observation. */
export interface Uptime {
  readonly day: number | null;
  readonly week: number | null;
  readonly month: number | null;
  readonly quarter: number | null;
  /** The start of the first of the days with an observation, in milliseconds since the epoch; null without one. */
  readonly since: number | null;
}

/** What pages and lists show of the history of a target. */
export interface Availability {
  /** The last 24 hours in half hours, the oldest first; null for one without an observation. */
  readonly strip: readonly (DaySlot | null)[];
  readonly uptime: Uptime;
  /** Durations of the last day of those that were up, in milliseconds; null without one. */
  readonly durations: { readonly p50: number; readonly p90: number; readonly p99: number } | null;
}

const STRIP_SLOTS = DAY_MS / SLOT_MS;
/** Whole days (UTC) before today. */
const WINDOWS = { week: 7, month: 30, quarter: 90 } as const;
/** The days that `availability` reads, and those of them with half hours. */
export const DAYS_READ = WINDOWS.quarter;
export const DETAILED_DAYS_READ = 1;

/**
 * Summarises the history of a target. The last day is exact to half an hour; the longer windows begin with the UTC day
 * that is 7, 30 or 90 days ago. Missed observations count for neither side.
 */
export function availability(days: readonly StoredDay[], now: number): Availability {
  const lastSlot = Math.floor(now / SLOT_MS);
  const byDay = new Map(days.map((each) => [each.day, each.detail]));
  const strip = Array.from({ length: STRIP_SLOTS }, (_, index) => {
    const slot = lastSlot - STRIP_SLOTS + 1 + index;
    const found = byDay.get(dayOf(slot))?.slots[slot % STRIP_SLOTS];
    return found === undefined || found.up + found.down + found.missed === 0 ? null : found;
  });
  return { strip, uptime: uptimeOf(days, now), durations: durationsOf(byDay, lastSlot) };
}

/** When the first half hour of a strip began, in milliseconds since the epoch. */
export function stripStart(now: number): number {
  return (Math.floor(now / SLOT_MS) - STRIP_SLOTS + 1) * SLOT_MS;
}

/** The shares of the days of one target, or of several together, in the windows of `availability`. */
export function uptimeOf(days: readonly StoredDay[], now: number): Uptime {
  const firstSlot = Math.floor(now / SLOT_MS) - STRIP_SLOTS + 1;
  const lastDay = days.flatMap(
    ({ day, detail }) => detail?.slots.filter((_, at) => day * STRIP_SLOTS + at >= firstSlot) ?? [],
  );
  const since = (ago: number): number | null =>
    shareUp(days.filter(({ day }) => day >= Math.floor(now / DAY_MS) - ago));
  const first = days.reduce(
    (least, { day, up, down, missed }) => (up + down + missed > 0 ? Math.min(least, day) : least),
    Number.POSITIVE_INFINITY,
  );
  return {
    day: shareUp(lastDay),
    week: since(WINDOWS.week),
    month: since(WINDOWS.month),
    quarter: since(WINDOWS.quarter),
    since: Number.isFinite(first) ? first * DAY_MS : null,
  };
}

/** Whether the longest window is about fewer days than it has. */
export function isYoung(uptime: Uptime, now: number): uptime is Uptime & { since: number } {
  return uptime.since !== null && Math.floor(uptime.since / DAY_MS) > Math.floor(now / DAY_MS) - WINDOWS.quarter;
}

function shareUp(counts: readonly { readonly up: number; readonly down: number }[]): number | null {
  const [up, down] = counts.reduce(([ups, downs], each) => [ups + each.up, downs + each.down], [0, 0]);
  return up + down === 0 ? null : up / (up + down);
}

/** Durations are stored for two hours each: those of which a part is in the last day count. */
function durationsOf(byDay: ReadonlyMap<number, Day | null>, lastSlot: number): Availability['durations'] {
  const counts: number[] = [];
  const setsADay = STRIP_SLOTS / SLOTS_PER_RANGE_SET;
  const last = Math.floor(lastSlot / SLOTS_PER_RANGE_SET);
  for (let set = last - setsADay; set <= last; set += 1) {
    const ofSet = byDay.get(Math.floor(set / setsADay))?.durations[set % setsADay] ?? [];
    for (const [range, count] of ofSet.entries()) counts[range] = (counts[range] ?? 0) + count;
  }
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  const at = (share: number): number => percentile(counts, share * total);
  return { p50: at(0.5), p90: at(0.9), p99: at(0.99) };
}

/** The duration that `rank` of them do not exceed, in between the ends of its range. */
function percentile(counts: readonly number[], rank: number): number {
  let before = 0;
  for (const [range, count] of counts.entries()) {
    if (count > 0 && before + count >= rank) {
      const part = (rank - before) / count;
      return rangeStartMs(range) + part * (rangeEndMs(range) - rangeStartMs(range));
    }
    before += count;
  }
  return rangeEndMs(counts.length - 1);
}
