import {
  CHECK_KINDS,
  type CheckKind,
  type CheckOptions,
  type ProbeDetail,
  type TargetStatus,
} from '../../domain/checks/check.ts';
import { addressOfTarget } from '../../domain/checks/kinds.ts';
import type { Gathered } from '../../domain/checks/sweep/day.ts';
import type { SweepState } from '../../domain/checks/sweep/observe.ts';
import { type Place, slotsOf } from '../../domain/checks/sweep/slots.ts';
import { CHECK_LIMITS } from '../../domain/checks/target.ts';
import { fromJson } from '../../lib/json.ts';
import { type KeptState, pendingOf, stateOf, type SweptCheck } from '../../store/checks/sweep.ts';
import type { CheckTargetRow } from '../../store/schema/schema.ts';
import type { Scheduled } from './probe-schedule.ts';

/** What the last probe said. */
interface LastProbe {
  readonly durationMs: number | null;
  readonly detail: ProbeDetail | null;
  readonly certificateDays: number | null;
}

/** A target that this daemon probes. Its state in memory is ahead of the stored one. */
export interface SweepTarget extends Scheduled {
  readonly check: string;
  readonly name: string;
  readonly place: Place;
  /** As the user defined it; replaced when that changes. */
  order: ProbeOrder;
  state: SweepState;
  last: LastProbe;
  wasUp: boolean;
  /** The status in the store, as far as is known here. */
  storedStatus: TargetStatus;
  /** The part that the store does not have yet: nothing, the result of the last probe, or also the state. */
  unstored: 'nothing' | 'result' | 'state';
  /** A transition of it is being written: until then its state does not change. */
  isRecording: boolean;
  gathered: Gathered[];
  /** When the first of them was observed, by the monotonic clock. */
  gatheredFrom: number;
  /** Ends the probe under way. */
  ending: AbortController | null;
}

export interface ProbeOrder {
  readonly kind: CheckKind;
  readonly options: CheckOptions[CheckKind];
  readonly row: CheckTargetRow;
}

/** Throws for a check that somebody wrote into the database and no one can probe. */
export function orderOf({ kind, intervalMs, options: text }: SweptCheck, row: CheckTargetRow): ProbeOrder {
  const { min, max } = CHECK_LIMITS.intervalMs;
  const options: CheckOptions[CheckKind] | null = fromJson(text);
  if (typeof options !== 'object' || options === null) throw new Error('its options are no fields');
  if (!CHECK_KINDS.includes(kind)) throw new Error('there is no such kind');
  if (!(intervalMs >= min && intervalMs <= max)) throw new Error('its interval is out of bounds');
  // What the netgroup of the target is taken from when it changes, with many others in one batch.
  addressOfTarget(kind, row.spec);
  return { kind, options, row };
}

export function newTarget(check: SweptCheck, row: CheckTargetRow, place: Place): SweepTarget {
  return {
    check: check.name,
    name: row.name,
    place,
    order: orderOf(check, row),
    state: stateOf(row),
    last: { durationMs: row.duration_ms, detail: row.detail, certificateDays: row.certificate_days },
    wasUp: row.was_up === 1,
    storedStatus: row.status,
    unstored: 'nothing',
    isRecording: false,
    gathered: [],
    gatheredFrom: 0,
    ending: null,
    slots: slotsOf(check.intervalMs, place),
    plannedFor: null,
    dueAt: 0,
    startedAt: Number.NEGATIVE_INFINITY,
    isRunning: false,
    isPlanned: false,
  };
}

/**
 * The state to store. `orFrom`: a status that may be stored besides the known one, because the answer of an earlier
 * write is still awaited.
 */
export function keptState(target: SweepTarget, orFrom: TargetStatus): KeptState {
  const { check, name, state, last, wasUp, storedStatus } = target;
  const { status, lastChange } = state;
  const { durationMs, detail, certificateDays } = last;
  return {
    check,
    target: name,
    from: storedStatus,
    orFrom,
    status,
    wasUp: wasUp ? 1 : 0,
    lastChange,
    pending: pendingOf(state),
    durationMs: durationMs === null ? null : Math.round(durationMs),
    detail,
    certificateDays,
  };
}
