import type { Clock } from '../../lib/clock.ts';
import type { Store } from '../../store/store.ts';
import { DEADMAN_EVERY_MS, watchOnce } from '../events/deadman.ts';
import type { Loop } from '../core/loop.ts';
import { PAGE_EVERY_MS, Pager, type PageOptions } from './send.ts';
import type { Signals } from '../core/signals.ts';

interface PageLoopDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly self: () => string;
  readonly signals: Signals;
  readonly pages: PageOptions;
}

type StartLoop = (name: string, everyMs: number, sweepOnce: (signal: AbortSignal) => Promise<number | void>) => Loop;

/** What tells people: the pages, and the watches that ask for some. */
export function startPageLoops(
  { pages: options, signals, ...deps }: PageLoopDeps,
  loop: StartLoop,
): { readonly wake: () => void; readonly loops: readonly Loop[] } {
  const onError = (error: unknown): void => void signals.emit('loop:failed', { name: 'page', error });
  const pager = new Pager({ ...deps, ...options, onError });
  const pages = loop('page', PAGE_EVERY_MS, (signal) => pager.sweepOnce(signal));
  const wake = (): void => pages.wake();
  pager.onFree(wake);
  const watches = loop('deadman', DEADMAN_EVERY_MS, () => watchOnce({ ...deps, wake }));
  // What is under way is recorded before the store closes: else it would be sent again.
  const stop = async (): Promise<void> => {
    await pages.stop();
    await pager.settled();
  };
  return { wake, loops: [watches, { wake, stop }] };
}
