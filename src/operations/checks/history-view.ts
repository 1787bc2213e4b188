import type { HalfHour } from '../../domain/checks/check.ts';
import { type Availability, isYoung } from '../../domain/checks/sweep/availability.ts';
import type { DaySlot } from '../../domain/checks/sweep/day.ts';
import { rfc3339 } from '../../lib/clock.ts';
import { readAvailability } from '../../store/checks/history.ts';
import type { CheckRow, Db } from '../../store/schema/schema.ts';
import type { ViewData } from '../../views/views.ts';
import { checkView, type ViewParts } from './check-view.ts';

/** With more targets than this no history is shown: 91 days of each are read for it. */
export const HISTORY_TARGETS_MAX = 200;

type View = ViewData<'check.get'>;

/** A check with the history of its targets. */
export async function checkWithHistory(db: Db, row: CheckRow, parts: ViewParts): Promise<View> {
  const view = await checkView(db, row, { ...parts, withDetail: true });
  if (view.targets.length > HISTORY_TARGETS_MAX) return view;
  const known = await readAvailability(db, row.name, parts.now);
  return {
    ...view,
    targets: view.targets.map((target) => {
      const found = known.get(target.name);
      return found === undefined ? target : { ...target, history: historyView(found, parts.now) };
    }),
  };
}

function historyView(
  { uptime, durations, strip }: Availability,
  now: number,
): NonNullable<View['targets'][number]['history']> {
  return {
    uptime_24h: rounded(uptime.day, 5),
    uptime_7d: rounded(uptime.week, 5),
    uptime_30d: rounded(uptime.month, 5),
    uptime_90d: rounded(uptime.quarter, 5),
    ...(isYoung(uptime, now) ? { observed_since: rfc3339(uptime.since) } : {}),
    p50_ms: rounded(durations?.p50 ?? null, 1),
    p90_ms: rounded(durations?.p90 ?? null, 1),
    p99_ms: rounded(durations?.p99 ?? null, 1),
    half_hours: strip.map(worstOf),
  };
}

function rounded(value: number | null, digits: number): number | null {
  return value === null ? null : Number(value.toFixed(digits));
}

function worstOf(slot: DaySlot | null): HalfHour {
  if (slot === null) return 'none';
  if (slot.down > 0) return 'down';
  return slot.up > 0 ? 'up' : 'missed';
}
