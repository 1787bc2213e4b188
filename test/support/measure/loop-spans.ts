/**
 * How long one turn of the event loop works: processor time of the thread, which other programs of a busy machine do
 * not add to. The longest of a piece of work is an upper bound for what it keeps from others.
 */

/** Often enough that a long turn is not hidden among short ones, in milliseconds. */
const TICK_MS = 1;

export interface SpanRecorder {
  /** The longest span since the last call, in milliseconds. */
  take(): number;
  stop(): void;
}

/** Processor time of this thread so far, in milliseconds. */
export function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

export function recordSpans(): SpanRecorder {
  let longest = 0;
  let before = threadCpuMs();
  const timer = setInterval(() => {
    const now = threadCpuMs();
    longest = Math.max(longest, now - before);
    before = now;
  }, TICK_MS);
  timer.unref();
  return {
    take() {
      const taken = longest;
      longest = 0;
      before = threadCpuMs();
      return taken;
    },
    stop: () => clearInterval(timer),
  };
}

/** The longest span of `work`, the best of `times` runs; ends early at one that is at most `enoughMs`. */
export async function bestSpan(times: number, enoughMs: number, work: () => Promise<unknown>): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let n = 0; n < times && best > enoughMs; n += 1) {
    const recorder = recordSpans();
    await new Promise((resolve) => setTimeout(resolve, TICK_MS));
    recorder.take();
    await work();
    // The span that the work ended in ends with the next tick.
    await new Promise((resolve) => setTimeout(resolve, 2 * TICK_MS));
    best = Math.min(best, recorder.take());
    recorder.stop();
  }
  return best;
}
