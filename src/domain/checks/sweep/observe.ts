import type { EventStatus } from '../../events/event.ts';
import type { TargetStatus } from '../check.ts';

/** The number of consecutive observations that must agree before the status of a target changes. */
export const AGREEING = 3;
/**
 * Observations that disagree with the status are dropped when the next one comes this much later: after a stop of the
 * service or a sleep of the machine they are not consecutive any more. Longer than the slowest sweep.
 */
const STALE_INTERVALS = 10;
const STALE_MS = 15 * 60_000;

/** What a probe saw; `missed`: the canary was unreachable too, so nothing is known of the target. */
export type Reading = 'up' | 'down' | 'missed';

/** What the sweep knows of a target. Times are milliseconds since the epoch. */
export interface SweepState {
  readonly status: TargetStatus;
  /** Since when it has this status, as far as the sweep saw it. */
  readonly lastChange: number | null;
  /** The times of the latest observations that disagree with the status, oldest first: fewer than AGREEING. */
  readonly disagreeing: readonly number[];
  /** The times of the observations of a transition that happened during a snooze and has no event yet. */
  readonly withheld: readonly number[] | null;
}

/** A target that was not observed yet. */
export const UNSEEN: SweepState = { status: 'unknown', lastChange: null, disagreeing: [], withheld: null };

interface Observation {
  readonly at: number;
  readonly reading: Reading;
  readonly isSnoozed: boolean;
  readonly intervalMs: number;
}

/** A change of status that rules are notified of. */
export interface Transition {
  readonly status: EventStatus;
  /** When each of the agreeing observations was made, oldest first. */
  readonly observedAt: readonly number[];
}

interface Step {
  readonly state: SweepState;
  readonly transition: Transition | null;
}

/**
 * The state of a target after an observation. The first one seeds the status without a transition. The status changes
 * with the last of AGREEING observations that disagree with it; an agreeing one in between begins the count again, and
 * a missed one changes nothing. During a snooze the status changes too, but the transition is withheld: the first
 * observation after the snooze returns it, unless the target has changed back before.
 */
export function observe(state: SweepState, { at, reading, isSnoozed, intervalMs }: Observation): Step {
  if (reading === 'missed') return { state, transition: null };
  if (state.status === 'unknown') return { state: { ...UNSEEN, status: reading, lastChange: at }, transition: null };
  if (reading === state.status) return agree(state, isSnoozed);
  const seen = [...recent(state.disagreeing, at, intervalMs), at];
  if (seen.length < AGREEING) return { state: { ...state, disagreeing: seen }, transition: null };
  const changed = { status: reading, lastChange: at, disagreeing: [] };
  // It had changed during the snooze, and no rule was notified: now it is again as the rules know it.
  if (state.withheld !== null) return { state: { ...changed, withheld: null }, transition: null };
  if (isSnoozed) return { state: { ...changed, withheld: seen }, transition: null };
  return { state: { ...changed, withheld: null }, transition: transitionTo(reading, seen) };
}

function agree(state: SweepState, isSnoozed: boolean): Step {
  const settled = state.disagreeing.length === 0 ? state : { ...state, disagreeing: [] };
  if (state.withheld === null || state.status === 'unknown' || isSnoozed) return { state: settled, transition: null };
  return { state: { ...settled, withheld: null }, transition: transitionTo(state.status, state.withheld) };
}

function transitionTo(status: Exclude<TargetStatus, 'unknown'>, observedAt: readonly number[]): Transition {
  return { status: status === 'down' ? 'firing' : 'resolved', observedAt };
}

function recent(disagreeing: readonly number[], at: number, intervalMs: number): readonly number[] {
  const last = disagreeing.at(-1);
  if (last === undefined || at - last <= Math.max(STALE_INTERVALS * intervalMs, STALE_MS)) return disagreeing;
  return [];
}
