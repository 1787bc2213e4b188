import type { Clock } from '../../lib/clock.ts';
import { Latch } from '../../lib/flow/latch.ts';
import { type Rest, together } from './rest.ts';

/** The result of a pass. */
export interface Pass {
  /** Counts by action, logged when one is not zero. */
  readonly did?: Readonly<Record<string, number>>;
  /** The milliseconds until the next pass, at most the interval of the loop. With it the loop does not rest. */
  readonly dueMs?: number;
  /** Of a loop that rests: without a commit nothing is due for these milliseconds; absent where it never is. */
  readonly restMs?: number;
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

/** A loop of the daemon: a row of LOOPS. */
export interface LoopRow<Deps> {
  readonly name: string;
  /** A pass is made at least this often, in milliseconds: the fallback where no wake-up arrives. */
  readonly everyMs: number | ((deps: Deps) => number);
  readonly wakeOn: readonly WakeUp[];
  /** What a pass finds depends on nothing but the store and its `restMs`: without commits it is made less often. */
  readonly restsWithoutCommits?: true;
  /** Absent: it always runs. */
  readonly runs?: (deps: Deps) => boolean;
  /** One pass. Throwing does not end the loop. */
  readonly once: (deps: Deps, signal: AbortSignal) => Promise<Pass | void>;
  /** After the last pass: waits for what passes have left under way. */
  readonly settled?: (deps: Deps) => Promise<void>;
}

export interface Loop {
  /** Asks for a pass soon; many requests are one pass. */
  wake(): void;
  /** Ends the loop and waits for the pass under way. Safe without start, and twice. */
  stop(): Promise<void>;
}

interface LoopOptions {
  readonly name: string;
  readonly clock: Clock;
  readonly everyMs: number;
  readonly once: (signal: AbortSignal) => Promise<Pass | void>;
  readonly onError: (name: string, error: unknown) => void;
  /** After the first good pass that follows a failed one. */
  readonly onRecovered?: (name: string) => void;
  readonly onDone?: (name: string, did: NonNullable<Pass['did']>) => void;
  /** Of a loop that rests without commits. */
  readonly rest?: Rest;
}

/** Runs a pass at once, then after each wake-up or when the time is up, one at a time. */
export function startLoop(options: LoopOptions): Loop {
  const { name, clock, everyMs, once, rest, onError, onRecovered, onDone } = options;
  const stopping = new AbortController();
  const bell = new Latch();
  const ring = (): void => bell.ring();
  const wait = (passAt: number, { dueMs, restMs = Number.POSITIVE_INFINITY }: Pass, isGood: boolean) => {
    const soonMs = dueMs ?? restMs;
    if (soonMs < everyMs) return clock.after(soonMs, ring);
    if (rest === undefined || dueMs !== undefined || !isGood) return clock.after(together(clock, everyMs), ring);
    return rest.wait({ passAt, everyMs, dueAt: clock.monotonic() + restMs, ring });
  };
  const run = async (): Promise<void> => {
    let hasFailed = false;
    while (!stopping.signal.aborted) {
      let pass: Pass = {};
      const passAt = clock.monotonic();
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
      const cancel = wait(passAt, pass, !hasFailed);
      await bell.wait(stopping.signal);
      cancel();
    }
  };
  const running = run();
  return {
    wake: ring,
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
