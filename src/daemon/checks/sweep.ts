import type { CheckKind } from '../../domain/checks/check.ts';
import { gather } from '../../domain/checks/sweep/day.ts';
import { AGREEING, observe, type Reading, type Transition } from '../../domain/checks/sweep/observe.ts';
import { type CheckSample, SweepCounter } from '../../domain/checks/sweep/report.ts';
import type { Clock } from '../../lib/clock.ts';
import { nextTurn } from '../../lib/flow/cooperative.ts';
import type { ProbeResult } from '../../probes/probe.ts';
import { recordTransitions } from '../../reaction/check-transition.ts';
import type { ReactionDeps } from '../../reaction/types.ts';
import { mustHold } from '../../lib/invariants/invariants.ts';
import { hasChecks, keepTargetState } from '../../store/checks/sweep.ts';
import type { Store } from '../../store/store.ts';
import type { Canary } from './canary.ts';
import type { Ownership } from './ownership.ts';
import { SweepPlan } from './plan.ts';
import { ProbeSchedule } from './probe-schedule.ts';
import { ProbeFaults } from './probe-faults.ts';
import { keptState, type ProbeOrder, type SweepTarget } from './target.ts';
import { type QueuedTransition, TransitionQueue } from './transition-queue.ts';
import { Writer } from './writer.ts';

export interface SweepOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly reaction: ReactionDeps;
  readonly ownership: Ownership;
  /** Null where no canary is set. */
  readonly canary: Canary | null;
  /** One probe. Rejects when `signal` aborts. */
  readonly probe: (order: ProbeOrder, signal: AbortSignal) => Promise<ProbeResult>;
  /** What tells the netgroup of a target as the groups are now; null for a target that is not an address. */
  readonly netgroupsNow: () => Promise<(kind: CheckKind, spec: string) => string | null>;
  /** The daemon's id, under which it reports. */
  readonly self: () => string;
  readonly maxRunning: number;
  readonly onError: (error: unknown) => void;
}

type LastSeen = Omit<ProbeResult, 'up'>;

/** What a probe saw, with the canary. */
interface Seen extends LastSeen {
  readonly reading: Reading;
}

/** Probes that are ended before others have their turn: to end one takes 0.1 ms. */
const ENDED_AT_ONCE = 25;

/** Probes the targets of all enabled checks that this daemon owns, and turns what it sees into states and events. */
export class Sweep {
  readonly #options: SweepOptions;
  readonly #plan: SweepPlan;
  readonly #schedule: ProbeSchedule<SweepTarget>;
  readonly #transitions: TransitionQueue;
  readonly #writer: Writer;
  readonly #counter = new SweepCounter();
  readonly #faults: ProbeFaults;
  #targets: readonly SweepTarget[] = [];

  constructor(options: SweepOptions) {
    const { store, clock, ownership, maxRunning, onError } = options;
    this.#options = options;
    this.#plan = new SweepPlan(store.db, onError);
    this.#schedule = new ProbeSchedule({
      clock,
      ahead: () => ownership.ahead(),
      maxRunning,
      run: (target, lateMs) => this.#probe(target, lateMs),
    });
    this.#transitions = new TransitionQueue({ clock, record: (changes) => this.#recordAll(changes), onError });
    this.#writer = new Writer({ store, clock, self: options.self });
    this.#faults = new ProbeFaults({ clock, onError });
  }

  /** What metrics show of the targets that this daemon probes. */
  samples(): CheckSample[] {
    return this.#targets.map(({ check, name, state: { status }, last: { durationMs, certificateDays } }) => ({
      check,
      target: name,
      status,
      durationMs,
      certificateDays,
    }));
  }

  /** Follows the checks in the store, and writes what was observed. False where there is no check. */
  async pass(signal: AbortSignal): Promise<boolean> {
    const { ownership, store } = this.#options;
    if (this.#targets.length === 0 && !(await hasChecks(store.db))) return false;
    await ownership.renew();
    if (signal.aborted) return true;
    const change = await this.#plan.update(ownership.shards());
    if (change !== null) {
      this.#targets = change.targets;
      this.#schedule.plan(change.targets, (target) => change.fresh.has(target));
      await this.#endProbes(change.dropped);
      await this.#writer.writeDropped(change.dropped);
    }
    await this.#writer.writeDue(this.#targets, signal);
    if (this.#targets.length > 0) await this.#writer.reportDue(() => this.#counter.take(this.#targets.length));
    return true;
  }

  /** Waits until the transitions that were seen are written. */
  async settled(): Promise<void> {
    await this.#transitions.settled();
  }

  /** Begins no probe any more, ends those under way, and writes what was observed. */
  async stop(): Promise<void> {
    this.#schedule.stop();
    for (const { ending } of this.#targets) ending?.abort();
    await this.#transitions.stop();
    try {
      await this.#writer.writeAll(this.#targets);
    } finally {
      // Also where the store takes no writes: another daemon must not wait for this one.
      await this.#options.ownership.release();
    }
  }

  /** Thousands may be under way, and to end 3,000 at once took 300 ms. */
  async #endProbes(targets: readonly SweepTarget[]): Promise<void> {
    const running = targets.filter(({ ending }) => ending !== null);
    for (let at = 0; at < running.length; at += ENDED_AT_ONCE) {
      for (const { ending } of running.slice(at, at + ENDED_AT_ONCE)) ending?.abort();
      await nextTurn();
    }
  }

  async #probe(target: SweepTarget, lateMs: number): Promise<void> {
    const { ownership, clock } = this.#options;
    // A lease that could not be renewed may be another daemon's by now.
    if (!ownership.shards().has(target.place.shard)) return;
    const ending = new AbortController();
    target.ending = ending;
    let seen: Seen | null = null;
    let fault: string | null = null;
    try {
      seen = await this.#look(target, ending.signal);
      if (ending.signal.aborted) return;
    } catch (error) {
      if (ending.signal.aborted) return;
      fault = this.#faults.note(target.check, error);
    } finally {
      target.ending = null;
    }
    this.#observe(target, seen);
    const { intervalMs } = target.slots;
    const isMissed = seen?.detail === 'canary_down';
    const tookMs = clock.monotonic() - target.startedAt;
    this.#counter.note({ check: target.check, lateMs, tookMs, intervalMs, isMissed, fault });
  }

  /** Rejects where this machine or program could not probe. */
  async #look({ order }: SweepTarget, signal: AbortSignal): Promise<Seen> {
    const { probe, canary } = this.#options;
    const { up, ...result } = await probe(order, signal);
    if (up) return { ...result, reading: 'up' };
    const isMissed = canary !== null && !(await canary.isReachable());
    return isMissed ? { ...result, reading: 'missed', detail: 'canary_down' } : { ...result, reading: 'down' };
  }

  /** `seen`: null where the probe could not be made, which says nothing of the target. */
  #observe(target: SweepTarget, seen: Seen | null): void {
    const at = this.#options.ownership.now();
    const { snoozed_until: snoozedUntil } = target.order.row;
    const isSnoozed = snoozedUntil !== null && at < snoozedUntil;
    if (target.gathered.length === 0) target.gatheredFrom = this.#options.clock.monotonic();
    gather(target.gathered, { at, reading: seen?.reading ?? 'missed', isSnoozed, durationMs: seen?.durationMs ?? 0 });
    if (seen === null) return;
    const { reading, ...last } = seen;
    target.last = last;
    if (target.unstored === 'nothing') target.unstored = 'result';
    if (reading === 'up' && !target.wasUp) {
      target.wasUp = true;
      target.unstored = 'state';
    }
    if (target.isRecording) return;
    const { intervalMs } = target.slots;
    const { state, transition } = observe(target.state, { at, reading, isSnoozed, intervalMs });
    if (state !== target.state) target.unstored = 'state';
    target.state = state;
    if (transition !== null) this.#record(target, transition, last);
  }

  /** From here on the state of the target does not change until it is stored together with its event. */
  #record(target: SweepTarget, transition: Transition, { durationMs, detail }: LastSeen): void {
    target.isRecording = true;
    const before = target.state.status === 'down' ? 'up' : 'down';
    let isKept = false;
    this.#transitions.add({
      check: target.check,
      target: target.name,
      order: target.order,
      transition,
      durationMs,
      detail,
      keep: async (tx) => {
        const { status } = target.state;
        const observations = transition.observedAt.length;
        mustHold('fold.status', { check: target.check, target: target.name, status, observations, enough: AGREEING });
        isKept = await keepTargetState(tx, keptState(target, before));
        return isKept;
      },
      written: () => {
        target.isRecording = false;
        target.unstored = 'nothing';
        target.storedStatus = target.state.status;
        // It was removed, or another daemon was faster: the store is right.
        if (!isKept) this.#plan.forget(target);
      },
    });
  }

  async #recordAll(changes: readonly QueuedTransition[]): Promise<void> {
    const { netgroupsNow, reaction } = this.#options;
    const netgroupOf = await netgroupsNow();
    const withGroups = changes.map((change) => {
      const { kind, row } = change.order;
      return { ...change, netgroup: netgroupOf(kind, row.spec) };
    });
    await recordTransitions(reaction, withGroups);
  }
}
