import { slotAfter, type Slots } from '../../domain/checks/sweep/slots.ts';
import type { Clock } from '../../lib/clock.ts';
import { YieldTimer } from '../../lib/flow/cooperative.ts';
import { DueQueue } from '../../lib/due-queue.ts';

/** A target with its times: the schedule writes to it. */
export interface Scheduled {
  slots: Slots;
  /** The slots that `dueAt` is one of; null before it is planned. */
  plannedFor: Slots | null;
  /** By the monotonic clock. */
  dueAt: number;
  /** When it was last begun, by the monotonic clock. */
  startedAt: number;
  isRunning: boolean;
  /** False once another plan replaced it. */
  isPlanned: boolean;
}

interface ScheduleOptions<T> {
  readonly clock: Clock;
  /** What to add to the monotonic clock for the time of which the slots are counted. */
  readonly ahead: () => number;
  readonly maxRunning: number;
  /** Never rejects. `lateMs`: how long after its time it began. */
  readonly run: (target: T, lateMs: number) => Promise<void>;
}

/** Probes are begun in groups this far apart, in milliseconds, so that a thousand each second cost few wake-ups. */
const TICK_MS = 10;
/** Probes that are begun before others have their turn: what one does until it waits for its target takes 0.2 ms. */
const BURST = 16;
/** A timer that is this late, in milliseconds: the process was stopped, or the machine slept. */
const GAP_MS = 2_000;
/** The first probes of new targets are spread over this time, in milliseconds. */
const NEW_WITHIN_MS = 5_000;

/**
 * Runs each target once in its interval, a target never twice at a time, and at most `maxRunning` of them together.
 * A target that is late, because its probe or the sweep took longer than the interval, skips to its next slot. After a
 * gap all targets do: the probes of the time in between are not made up for.
 */
export class ProbeSchedule<T extends Scheduled> {
  readonly #options: ScheduleOptions<T>;
  readonly #queue = new DueQueue<T>();
  #planned: readonly T[] = [];
  #running = 0;
  #cancelTimer: (() => void) | null = null;
  #timerAt = Number.POSITIVE_INFINITY;
  #lastTickAt = Number.NEGATIVE_INFINITY;
  /** Those that are due are being begun, over several turns. */
  #isBeginning = false;
  #isStopped = false;

  constructor(options: ScheduleOptions<T>) {
    this.#options = options;
  }

  /** How many probes are under way. */
  get running(): number {
    return this.#running;
  }

  /** Replaces the plan. `isNew`: it was never planned before, so it is probed in the interval that has begun. */
  plan(targets: readonly T[], isNew: (target: T) => boolean): void {
    for (const target of this.#planned) target.isPlanned = false;
    for (const target of targets) target.isPlanned = true;
    for (const target of this.#planned) if (!target.isPlanned) target.plannedFor = null;
    this.#planned = targets;
    for (const target of targets) {
      // One that is due now stays due.
      if (target.isRunning || target.plannedFor === target.slots) continue;
      target.dueAt = isNew(target) ? this.#firstSlot(target) : this.#nextSlot(target);
      target.plannedFor = target.slots;
    }
    this.#queue.reset(targets.filter(({ isRunning }) => !isRunning));
    this.#arm();
  }

  /** No probe begins any more. */
  stop(): void {
    this.#isStopped = true;
    this.#cancelTimer?.();
    this.#cancelTimer = null;
  }

  /** The next slot of a target, by the monotonic clock, but not one that is less than half an interval away. */
  #nextSlot({ slots, startedAt }: T): number {
    const ahead = this.#options.ahead();
    const next = slotAfter(slots, this.#options.clock.monotonic() + ahead) - ahead;
    // The shared clock was corrected, or the probe began late: that slot counts as taken.
    return next - startedAt < slots.intervalMs / 2 ? next + slots.intervalMs : next;
  }

  #firstSlot(target: T): number {
    const { intervalMs, phaseMs } = target.slots;
    const soon = this.#options.clock.monotonic() + (phaseMs / intervalMs) * NEW_WITHIN_MS;
    return Math.min(soon, this.#nextSlot(target));
  }

  #arm(): void {
    const { clock } = this.#options;
    const dueAt = this.#queue.first?.dueAt ?? Number.POSITIVE_INFINITY;
    const isFull = this.#running >= this.#options.maxRunning;
    const at = isFull ? Number.POSITIVE_INFINITY : Math.max(dueAt, this.#lastTickAt + TICK_MS);
    if (this.#isStopped || this.#isBeginning || at === this.#timerAt) return;
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    this.#timerAt = at;
    if (at === Number.POSITIVE_INFINITY) return;
    const now = clock.monotonic();
    this.#cancelTimer = clock.after(Math.max(0, at - now), () => this.#tick(Math.max(at, now)));
  }

  #tick(expectedAt: number): void {
    this.#timerAt = Number.POSITIVE_INFINITY;
    this.#cancelTimer = null;
    const now = this.#options.clock.monotonic();
    this.#lastTickAt = now;
    if (now - expectedAt > GAP_MS) this.#skipGap();
    else return void this.#begin(now);
    this.#arm();
  }

  #skipGap(): void {
    const waiting: T[] = [];
    for (let target = this.#queue.take(); target !== undefined; target = this.#queue.take()) {
      target.dueAt = this.#nextSlot(target);
      waiting.push(target);
    }
    this.#queue.reset(waiting);
  }

  async #begin(now: number): Promise<void> {
    const timer = new YieldTimer(this.#options.clock);
    this.#isBeginning = true;
    for (let begun = 1; !this.#isStopped && this.#running < this.#options.maxRunning; begun += 1) {
      const { first } = this.#queue;
      if (first === undefined || first.dueAt > now) break;
      this.#queue.take();
      void this.#runOne(first, now);
      if (begun % BURST === 0 || timer.isDue) await timer.breathe();
    }
    this.#isBeginning = false;
    this.#arm();
  }

  async #runOne(target: T, now: number): Promise<void> {
    this.#running += 1;
    target.isRunning = true;
    target.startedAt = now;
    await this.#options.run(target, now - target.dueAt);
    target.isRunning = false;
    this.#running -= 1;
    if (target.isPlanned && !this.#isStopped) {
      target.dueAt = this.#nextSlot(target);
      target.plannedFor = target.slots;
      this.#queue.add(target);
    }
    this.#arm();
  }
}
