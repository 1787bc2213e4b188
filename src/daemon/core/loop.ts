import type { Clock } from '../../lib/clock.ts';
import { Latch } from '../../lib/flow/latch.ts';

/**
 * Loops that are made each second or less often are due at the same moments, so that an idle process wakes up once a
 * second and not once for each loop.
 */
const TOGETHER_MS = 1_000;
/** A loop that rests without commits makes a pass at least this often. */
const RESTING_EVERY_MS = 30_000;

/** The result of a pass. */
export interface Pass {
  /** Counts by action, logged when one is not zero. */
  readonly did?: Readonly<Record<string, number>>;
  /** The milliseconds until the next pass; at the latest it is made when the interval of the loop is over. */
  readonly dueMs?: number;
}

/** The wake-ups that request a pass early. */
export type WakeUp =
  /** A job may be claimable, a cancel was asked, the cordon was lifted, another process committed. */
  | 'request'
  /** The same, some milliseconds later: a claim that it causes is made first. */
  | 'after-request'
  | 'daemon-died'
  | 'slot-free'
  | 'job-ended'
  | 'notification-due';

/** What a loop of the daemon does. */
export interface LoopRow {
  readonly name: string;
  /** A pass is made at least this often, in milliseconds: the fallback where no wake-up arrives. */
  readonly everyMs: number;
  readonly wakeOn: readonly WakeUp[];
  /** What a pass finds depends on nothing but the store and its `dueMs`: without commits it is made each 30 s. */
  readonly restsWithoutCommits?: true;
  /** One pass. Throwing does not end the loop. */
  readonly once: (signal: AbortSignal) => Promise<Pass | void>;
  /** After the last pass: waits for what passes have left under way. */
  readonly settled?: () => Promise<void>;
}

/** A row of LOOPS: makes the loop of a daemon with what it works with; null where it has nothing to do. */
export type MakeLoop<Deps, Made extends LoopRow | null = LoopRow> = (deps: Deps) => Made;

export interface Loop {
  /** Asks for a pass soon; many requests are one pass. */
  wake(): void;
  /** The same, if the last pass was asked for at least its interval ago. */
  wakeIfDue(): void;
  /** Ends the loop and waits for the pass under way. Safe without start, and twice. */
  stop(): Promise<void>;
}

export interface LoopOptions {
  readonly name: string;
  readonly clock: Clock;
  readonly everyMs: number;
  readonly once: (signal: AbortSignal) => Promise<Pass | void>;
  readonly onError: (name: string, error: unknown) => void;
  /** After the first good pass that follows a failed one. */
  readonly onRecovered?: (name: string) => void;
  readonly onDone?: (name: string, did: NonNullable<Pass['did']>) => void;
  readonly restsWithoutCommits?: boolean;
}

/** Runs a pass at once, then after each wake-up or when the time is up, one at a time. */
export function startLoop(options: LoopOptions): Loop {
  const { name, clock, everyMs, once, restsWithoutCommits = false, onError, onRecovered, onDone } = options;
  const stopping = new AbortController();
  const bell = new Latch();
  let askedAt = clock.monotonic();
  const ring = (): void => {
    askedAt = clock.monotonic();
    bell.ring();
  };
  /** The milliseconds from one pass to the next. */
  const waitMs = ({ dueMs = Number.POSITIVE_INFINITY }: Pass, isGood: boolean): number => {
    const longest = restsWithoutCommits && isGood ? Math.max(everyMs, RESTING_EVERY_MS) : everyMs;
    return dueMs < longest ? dueMs : together(clock, longest);
  };
  const run = async (): Promise<void> => {
    let hasFailed = false;
    while (!stopping.signal.aborted) {
      let pass: Pass = {};
      try {
        pass = (await once(stopping.signal)) ?? {};
        if (hasFailed) onRecovered?.(name);
        hasFailed = false;
        if (pass.did !== undefined && Object.values(pass.did).some((count) => count > 0)) onDone?.(name, pass.did);
      } catch (error) {
        // The stop ended the pass: that is no fault.
        if (stopping.signal.aborted && error === stopping.signal.reason) break;
        hasFailed = true;
        onError(name, error);
      }
      const cancel = clock.after(waitMs(pass, !hasFailed), ring);
      await bell.wait(stopping.signal);
      cancel();
    }
  };
  const running = run();
  return {
    wake: ring,
    wakeIfDue() {
      // Half a second early is a pass at the moment that is nearest.
      if (clock.monotonic() - askedAt > everyMs - TOGETHER_MS / 2) ring();
    },
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

/** The milliseconds of a wait of about `ms`, to a moment that loops have in common. */
function together(clock: Clock, ms: number): number {
  if (ms < TOGETHER_MS) return ms;
  const now = clock.monotonic();
  return Math.round((now + ms) / TOGETHER_MS) * TOGETHER_MS - now;
}
