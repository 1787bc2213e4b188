import type { Action, JobActionKind } from '../rules/actions.ts';

/** Words of schedules, and which of their slots are due. */

/** What a schedule does. There is no event to tell people of, so it always makes a job. */
export type ScheduledAction = Action<JobActionKind>;

/**
 * A slot taken further ahead than this was taken while the clock was wrong, so it is ignored. Smaller steps back come
 * from a restored machine or a person, and nothing runs twice.
 */
const AHEAD_MAX_MS = 24 * 3_600_000;

/** When the next slot counts from at `now`. The slot taken last counts as run, also if the clock was set back. */
export function countsFrom(now: number, lastAt: number | null): number {
  return lastAt === null || lastAt > now + AHEAD_MAX_MS ? now : Math.max(now, lastAt);
}
