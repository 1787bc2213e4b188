import { Failure } from '../../domain/failure.ts';
import type { Clock } from '../../lib/clock.ts';
import { FairPlaces } from '../../lib/flow/fair-places.ts';
import type { ProbeDeps } from '../../probes/deps.ts';
import type { ProbeResult } from '../../probes/probe.ts';
import type { ProbeOrder, TargetProber } from './services.ts';
import { RateBudget } from './rate-budget.ts';
import { SharedProbe } from './shared-probe.ts';

/** Probes that run at a time for users. The sweep has the other three quarters of what the process may run. */
const RUNNING_MAX = 1_000;
const RUNNING_SHARE = 4;
/**
 * Places that a holder may have for each free one. A probe of a silent target has its place for 10 s: a holder alone
 * has two thirds of the places, and the next one finds a free place (T88).
 */
const OWN_PER_FREE = 2;
/** A holder with this number of waiting probes is refused more. The request before may have added 10,000 targets. */
const WAITING_EACH_MAX = 1_000;

/**
 * Probes at the request of users. A target has at most one running probe; further requests for it share its result
 * (T39).
 */
export class Prober implements TargetProber {
  readonly #deps: () => Promise<ProbeDeps>;
  readonly #probes = new Map<string, SharedProbe>();
  #places: FairPlaces | null = null;
  readonly #budget: RateBudget;

  constructor(clock: Pick<Clock, 'monotonic'>, deps: () => Promise<ProbeDeps>) {
    this.#deps = deps;
    this.#budget = new RateBudget(clock);
  }

  async probeAll(holder: string, orders: readonly ProbeOrder[], signal: AbortSignal): Promise<ProbeResult[]> {
    // Few processes probe at all.
    const [deps, { probe }] = await Promise.all([this.#deps(), import('../../probes/probe.ts')]);
    const running = Math.min(RUNNING_MAX, Math.ceil(deps.running.limit / RUNNING_SHARE));
    const places = (this.#places ??= new FairPlaces(running, OWN_PER_FREE));
    const isNew = ({ key }: ProbeOrder): boolean => this.#probes.get(key)?.isNewFor(holder) ?? true;
    if (places.waiting(holder) >= WAITING_EACH_MAX && orders.some(isNew))
      throw new Failure('unavailable', 'Many probes of this token are waiting. Nothing was probed; retry later.');
    const added = orders.filter(({ key }) => !this.#probes.has(key)).length;
    if (!this.#budget.take(holder, added))
      throw new Failure('unavailable', 'This token has started many probes. Nothing was probed; retry later.');
    const begin = async ({ kind, options, open }: ProbeOrder, stop: AbortSignal): Promise<ProbeResult> =>
      probe(deps, { kind, target: open(), options }, stop);
    const joined = orders.map((order) => {
      const shared = this.#find(order.key) ?? this.#add(order.key, (stop) => begin(order, stop));
      shared.join(places, holder);
      return shared;
    });
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
      for (const each of joined) each.leave();
    }
  }

  /** One without a waiting caller is ending: it has no result. */
  #find(key: string): SharedProbe | undefined {
    const found = this.#probes.get(key);
    return found?.hasCallers === true ? found : undefined;
  }

  #add(key: string, begin: (stop: AbortSignal) => Promise<ProbeResult>): SharedProbe {
    const added = new SharedProbe(begin);
    this.#probes.set(key, added);
    const forget = (): void => {
      if (this.#probes.get(key) === added) this.#probes.delete(key);
    };
    added.result.then(forget, forget);
    return added;
  }
}
