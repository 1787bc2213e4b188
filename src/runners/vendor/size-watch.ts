import { pause, type Clock } from '../../lib/clock.ts';
import { formatSize } from '../../domain/size.ts';
import { sizeOf } from '../run-files/folder-size.ts';

/** Of a run directory: the source, what was fetched, and archives beside their content. */
const RUN_LIMITS = { bytes: 4 * 1024 * 1024 * 1024, entries: 200_000, depth: 64 };
const LOOK_EVERY_MS = 1_000;
/** As another account a look at 10,000 files takes seconds: it gets a fifth of the time at most. */
const PAUSE_TIMES = 4;

interface SizeWatch extends AsyncDisposable {
  /** Aborted with an Error when the folder is beyond the limit, or cannot be measured. */
  readonly signal: AbortSignal;
}

/**
 * Looks at the size of a run directory until it is disposed of: an archive can hold a thousand times its size. A size
 * that cannot be measured is beyond the limit: a closed folder would else hide what is in it.
 */
export function watchSize(runDir: string, clock: Clock, limits = RUN_LIMITS): SizeWatch {
  const over = new AbortController();
  const done = new AbortController();
  const watching = (async () => {
    let wait = LOOK_EVERY_MS;
    while (!over.signal.aborted && (await pause(clock, wait, done.signal))) {
      const began = clock.monotonic();
      const size = await sizeOf(runDir, limits);
      if (size > limits.bytes)
        over.abort(
          new Error(
            `What was fetched is too large: a run may have ${formatSize(limits.bytes)} and ${limits.entries} files, ` +
              'in folders that its account may read.',
          ),
        );
      wait = Math.max(LOOK_EVERY_MS, (clock.monotonic() - began) * PAUSE_TIMES);
    }
  })();
  return {
    signal: over.signal,
    async [Symbol.asyncDispose]() {
      done.abort();
      await watching;
    },
  };
}
