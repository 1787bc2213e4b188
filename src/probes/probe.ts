import type { CheckKind, CheckOptions, ProbeDetail } from '../domain/checks/check.ts';
import type { ProbeDeps } from './deps.ts';
import { dns } from './kinds/dns.ts';
import { type Finding, findingOf } from './finding.ts';
import { http } from './kinds/http.ts';
import { metric } from './kinds/metric.ts';
import { onAbort } from './on-abort.ts';
import { ping } from './kinds/ping.ts';
import { tcp } from './kinds/tcp.ts';
import { tls } from './kinds/tls.ts';

/** From the first step of a probe to its end. */
export const PROBE_MS = 10_000;

export interface ProbeResult {
  readonly up: boolean;
  readonly detail: ProbeDetail;
  readonly durationMs: number;
  /** Whole days until the certificate ends; null where none was seen. */
  readonly certificateDays: number | null;
}

/** How targets of a kind are probed. Rejects with errors that `findingOf` reads; `signal` ends it. */
type Prober<K extends CheckKind> = (
  deps: ProbeDeps,
  target: string,
  options: CheckOptions[K],
  signal: AbortSignal,
) => Promise<Finding>;

const PROBERS: { readonly [K in CheckKind]: Prober<K> } = { tcp, tls, ping, http, dns, metric };

/** The reason of an abort: a constant, because a new error for each probe costs as much as a connection. */
const ENDED = new Error('the probe has ended');

interface Probed<K extends CheckKind> {
  readonly kind: K;
  /** Its specification with the credentials. */
  readonly target: string;
  readonly options: CheckOptions[K];
}

/**
 * Probes a target once. Nothing that the target does makes it reject: it rejects when `signal` aborts, and with a
 * Failure if this machine cannot probe. It waits while many probes run, then ends within `PROBE_MS`, and with it every
 * connection that it opened.
 */
export function probe<K extends CheckKind>(
  deps: ProbeDeps,
  { kind, target, options }: Probed<K>,
  signal: AbortSignal,
): Promise<ProbeResult> {
  return deps.running.run(async () => {
    signal.throwIfAborted();
    const began = deps.clock.monotonic();
    const { detail, certificateDays } = await bounded(
      deps,
      (ending) => PROBERS[kind](deps, target, options, ending),
      signal,
    );
    const durationMs = Math.round(deps.clock.monotonic() - began);
    return { up: detail === 'ok', detail, durationMs, certificateDays: certificateDays ?? null };
  });
}

async function bounded(
  { clock }: ProbeDeps,
  run: (signal: AbortSignal) => Promise<Finding>,
  signal: AbortSignal,
): Promise<Finding> {
  const ending = new AbortController();
  const over = Promise.withResolvers<Finding>();
  const stopTimer = clock.after(PROBE_MS, () => over.resolve({ detail: 'timeout' }));
  const forget = onAbort(signal, () => over.reject(signal.reason));
  try {
    return await Promise.race([run(ending.signal), over.promise]);
  } catch (error) {
    signal.throwIfAborted();
    return findingOf(error);
  } finally {
    stopTimer();
    forget();
    ending.abort(ENDED);
  }
}
