import { Failure } from '../../domain/failure.ts';
import type { Clock } from '../../lib/clock.ts';
import { Limiter } from '../../lib/flow/limiter.ts';
import type { ProbeDeps } from '../../probes/deps.ts';
import type { ProbeResult } from '../../probes/probe.ts';
import type { ProbeOrder, TargetProber } from '../core/services.ts';
import { RateBudget } from './rate-budget.ts';

/** Probes that run at a time for users. The sweep has the other three quarters of what the process may run. */
const RUNNING_MAX = 1_000;
const RUNNING_SHARE = 4;

interface Running {
  readonly result: Promise<ProbeResult>;
  /** Callers that wait for the result; the probe ends with the last one. */
  waiting: number;
  readonly stop: AbortController;
}

/**
 * Probes at the request of users. A target has at most one running probe; further requests for it share its result
 * (T39).
 */
export class Prober implements TargetProber {
  readonly #deps: () => Promise<ProbeDeps>;
  readonly #running = new Map<string, Running>();
  #limiter: Limiter | null = null;
  readonly #budget: RateBudget;

  constructor(clock: Pick<Clock, 'monotonic'>, deps: () => Promise<ProbeDeps>) {
    this.#deps = deps;
    this.#budget = new RateBudget(clock);
  }

  async probeAll(holder: string, orders: readonly ProbeOrder[], signal: AbortSignal): Promise<ProbeResult[]> {
    // Few processes probe at all.
    const [deps, { probe }] = await Promise.all([this.#deps(), import('../../probes/probe.ts')]);
    const running = Math.min(RUNNING_MAX, Math.ceil(deps.running.limit / RUNNING_SHARE));
    const limiter = (this.#limiter ??= new Limiter({ running, waiting: Number.POSITIVE_INFINITY }));
    const begin = (order: ProbeOrder, { signal: stop }: AbortController): Promise<ProbeResult> =>
      limiter.run(async () => {
        stop.throwIfAborted();
        return probe(deps, order.kind, order.open(), order.options, stop);
      });
    const added = orders.filter(({ key }) => !this.#running.has(key)).length;
    if (!this.#budget.take(holder, added))
      throw new Failure('unavailable', 'This token has started many probes. Nothing was probed; retry later.');
    const joined = orders.map((order) => this.#join(order, begin));
    const gone = Promise.withResolvers<never>();
    const leave = (): void => gone.reject(new Failure('unavailable', 'The request ended before its probes did.'));
    // Without a listener the rejection would count as unhandled where the results came first.
    gone.promise.catch(() => undefined);
    signal.addEventListener('abort', leave, { once: true });
    if (signal.aborted) leave();
    try {
      return await Promise.race([Promise.all(joined.map(({ result }) => result)), gone.promise]);
    } finally {
      signal.removeEventListener('abort', leave);
      for (const each of joined) {
        each.waiting -= 1;
        if (each.waiting === 0) each.stop.abort();
      }
    }
  }

  #join(order: ProbeOrder, begin: (order: ProbeOrder, stop: AbortController) => Promise<ProbeResult>): Running {
    const found = this.#running.get(order.key);
    // One without a waiting caller is ending: it has no result.
    if (found !== undefined && found.waiting > 0) {
      found.waiting += 1;
      return found;
    }
    const stop = new AbortController();
    const result = begin(order, stop);
    const started: Running = { result, waiting: 1, stop };
    this.#running.set(order.key, started);
    const forget = (): void => {
      if (this.#running.get(order.key) === started) this.#running.delete(order.key);
    };
    result.then(forget, forget);
    return started;
  }
}
