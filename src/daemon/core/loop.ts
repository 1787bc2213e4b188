import type { Clock } from '../../lib/clock.ts';
import { Latch } from '../../lib/flow/latch.ts';

export interface Loop {
  /** Asks for a pass soon; many requests are one pass. */
  wake(): void;
  /** Ends the loop and waits for the pass under way. Safe without start, and twice. */
  stop(): Promise<void>;
}

export interface LoopOptions {
  readonly name: string;
  readonly clock: Clock;
  /** A pass is made at least this often, in milliseconds: the fallback where no wake-up arrives. */
  readonly everyMs: number;
  /**
   * One pass; it may answer in how many milliseconds the next is due, where that is sooner. Throwing does not end the
   * loop.
   */
  readonly sweepOnce: (signal: AbortSignal) => Promise<number | void>;
  readonly onError: (name: string, error: unknown) => void;
}

/** Runs a pass at once, then after each wake-up or when the time is up, one at a time. */
export function startLoop(options: LoopOptions): Loop {
  const stopping = new AbortController();
  const bell = new Latch();
  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      let dueMs: number | void = undefined;
      try {
        dueMs = await options.sweepOnce(stopping.signal);
      } catch (error) {
        options.onError(options.name, error);
      }
      const cancel = options.clock.after(Math.min(dueMs ?? options.everyMs, options.everyMs), () => bell.ring());
      await bell.wait(stopping.signal);
      cancel();
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
