import type { Clock } from '../../lib/clock.ts';
import { giveBackText } from '../../runners/process/lean.ts';
import { openSystemCalls } from '../../runners/sandbox/kernel/system-call.ts';

/** The start is over by then, in milliseconds, and the digest of the program, which begins after 2 s, is computed. */
const AFTER_MS = 5_000;

/** The memory that only the start needed. */
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
 * The young half of V8's heap stays as large as the start has made it (17 MB) until a collection that is to save
 * memory, and V8 makes none by itself in a process that does nothing. Needs `--expose-gc`, which bin/svc passes.
 */
function release(): void {
  globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  try {
    giveBackText(openSystemCalls());
  } catch {
    // Where there is no table of system calls these pages stay.
  }
}
