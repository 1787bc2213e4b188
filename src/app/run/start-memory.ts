import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Clock } from '../../lib/clock.ts';
import { giveBackText } from '../../runners/process/lean.ts';
import { openSystemCalls } from '../../runners/sandbox/kernel/system-call.ts';

/** The start is over by then, in milliseconds, and the digest of the program, which begins after 2 s, is computed. */
const AFTER_MS = 5_000;

/** The memory that only the start needed, and the flags of V8 for what comes after it. */
export class StartMemory {
  #cancel: (() => void) | null = null;

  /** Gives it back once, and holds the event loop for some 60 ms. */
  releaseLater(clock: Pick<Clock, 'after'>): void {
    this.#cancel = clock.after(AFTER_MS, release);
  }

  /** The program ends before that. */
  keep(): void {
    this.#cancel?.();
  }
}

/**
 * For a process that stays: the old half of the heap is collected once its garbage is as much as what lives. Else a
 * sweep of 1,000 http probes a second gains 120 MB, of which 4 MB live (with this 65, at 23 % of a core for both).
 */
export const HEAP_GROWING = '--heap-growing-percent=100';

/**
 * Given to Node when it starts, either would make it compile its own modules again: 25 ms of a start of 440. What it
 * loads later has no compiled form by other flags either, and takes a little longer.
 */
const LATE_FLAGS = [HEAP_GROWING, '--expose-gc'];

function release(): void {
  for (const flag of LATE_FLAGS) setFlagsFromString(flag);
  try {
    collect();
    giveBackText(openSystemCalls());
  } catch {
    // Where there is no such function, or no table of system calls, this memory stays.
  }
}

/**
 * The young half of V8's heap stays as large as the start has made it (17 MB) until a collection that is to save
 * memory, and V8 makes none by itself in a process that does nothing.
 */
function collect(): void {
  // Of this context only where the flag was there from the beginning, as in a daemon that an older program became.
  const gc = globalThis.gc ?? (runInNewContext('gc') as NodeJS.GCFunction);
  gc({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}
