import type { Clock } from '../../lib/clock.ts';
import { Latch } from '../../lib/flow/latch.ts';

/** The result of a pass. */
export interface Pass {
  /** Counts by action, logged when one is not zero. */
  readonly did?: Readonly<Record<string, number>>;
  /** The milliseconds until the next pass, at most the interval of the loop. With it the loop does not rest. */
  readonly dueMs?: number;
}

/** The wake-ups that request a pass early. */
export type WakeUp =
  /** A job may be claimable, a cancel was asked, the cordon was lifted, another process committed. */
  | 'request'
  /** The same, some milliseconds later: a claim that it causes is made first. */
  | 'after-request'
  | 'slot-free'
  | 'job-ended'
  | 'notification-due';

/** A loop of the daemon: a row of LOOPS. */
export interface LoopRow<Deps> {
  readonly name: string;
  /** A pass is made at least this often, in milliseconds: the fallback where no wake-up arrives. */
  readonly everyMs: number | ((deps: Deps) => number);
  readonly wakeOn: readonly WakeUp[];
  /** What a pass finds depends on nothing but the store: without commits it is made less often. */
  readonly restsWithoutCommits?: true;
  /** Absent: it always runs. */
  readonly runs?: (deps: Deps) => boolean;
  /** One pass. Throwing does not end the loop. */
  readonly once: (deps: Deps, signal: AbortSignal) => Promise<Pass | void>;
  /** After the last pass: waits for what passes have left under way. */
  readonly settled?: (deps: Deps) => Promise<void>;
  /** Stopped when the daemon's jobs have ended, the others before. */
  readonly outlivesJobs?: true;
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
  /** A loop that rests without commits: another text after each commit, null where there is no cheap way to tell. */
  readonly version?: () => string | null;
}

/**
 * Loops that are made each second or less often are due at the same moments, so that an idle process wakes up once a
 * second and not once for each loop.
 */
const TOGETHER_MS = 1_000;
/** Passes go on this long after a commit, as a row may have to reach an age first. */
const AFTER_COMMIT_MS = 10_000;
/** And from then on a pass is made at least this often. */
const RESTING_EVERY_MS = 30_000;

const NOTHING = (): void => undefined;

/** The milliseconds of a wait of about `ms`, to a moment that loops have in common. */
function together(clock: Clock, ms: number): number {
  if (ms < TOGETHER_MS) return ms;
  const now = clock.monotonic();
  return Math.round((now + ms) / TOGETHER_MS) * TOGETHER_MS - now;
}

/** Tells whether a pass may be left out, which nothing asked for. */
class Rest {
  readonly #clock: Clock;
  readonly #version: () => string | null;
  #seen: string | null = null;
  #changedAt = 0;
  #passAt = 0;

  constructor(clock: Clock, version: () => string | null = () => null) {
    this.#clock = clock;
    this.#version = version;
  }

  /** To be called before a pass: what is committed during it is found by the next one. */
  passBegins(): void {
    this.#passAt = this.#clock.monotonic();
    this.#look();
  }

  goesOn(): boolean {
    const now = this.#clock.monotonic();
    this.#look();
    return this.#seen !== null && now - this.#changedAt > AFTER_COMMIT_MS && now - this.#passAt < RESTING_EVERY_MS;
  }

  /** A store that cannot answer is no reason to rest: the pass finds its fault. */
  #ask(): string | null {
    try {
      return this.#version();
    } catch {
      return null;
    }
  }

  #look(): void {
    const version = this.#ask();
    if (version !== this.#seen) this.#changedAt = this.#clock.monotonic();
    this.#seen = version;
  }
}

/** Runs a pass at once, then after each wake-up or when the time is up, one at a time. */
export function startLoop(options: LoopOptions): Loop {
  const { name, clock, everyMs, once, onError, onRecovered, onDone } = options;
  const rest = new Rest(clock, options.version);
  const stopping = new AbortController();
  const bell = new Latch();
  const run = async (): Promise<void> => {
    let hasFailed = false;
    while (!stopping.signal.aborted) {
      let dueMs: number | undefined;
      rest.passBegins();
      try {
        const pass = await once(stopping.signal);
        if (hasFailed) onRecovered?.(name);
        hasFailed = false;
        dueMs = pass?.dueMs;
        if (pass?.did !== undefined && Object.values(pass.did).some((count) => count > 0)) onDone?.(name, pass.did);
      } catch (error) {
        // The stop ended the pass: that is no fault.
        if (stopping.signal.aborted && error === stopping.signal.reason) break;
        hasFailed = true;
        onError(name, error);
      }
      const mayRest = !hasFailed && dueMs === undefined;
      const timer = { cancel: NOTHING };
      const wait = (ms: number): void => {
        timer.cancel = clock.after(ms, () => {
          if (mayRest && rest.goesOn()) wait(together(clock, everyMs));
          else bell.ring();
        });
      };
      wait(dueMs !== undefined && dueMs < everyMs ? dueMs : together(clock, everyMs));
      await bell.wait(stopping.signal);
      timer.cancel();
    }
  };
  const running = run();
  return {
    wake: () => bell.ring(),
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
