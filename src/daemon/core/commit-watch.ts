import { type Loop, type LoopOptions, startLoop } from './loop.ts';

const EVERY_MS = 1_000;
/** A pass may find a row only when that has reached an age, so passes go on for this long after a commit. */
const AFTER_COMMIT_MS = 10_000;
/** The time of day that moved this much against the monotonic one between two looks was set. */
const JUMP_MS = 50;

/**
 * A loop that wakes others of which a pass finds nothing new without a commit: it looks each second at the counter of
 * commits, and wakes them for 10 s after a commit and after the time of day was set. `version` gives another text after
 * each commit; null where there is no cheap way to tell: then it always wakes them.
 */
export function watchCommits(
  version: () => string | null,
  resting: readonly Loop[],
  options: Pick<LoopOptions, 'clock' | 'onError'>,
): Loop {
  const { clock } = options;
  let seen: string | null = null;
  let changedAt = Number.NEGATIVE_INFINITY;
  /** The time of day minus the monotonic one. */
  let ahead = clock.now() - clock.monotonic();
  const once = async (): Promise<void> => {
    const before = { seen, ahead };
    const now = clock.monotonic();
    seen = orNull(version);
    ahead = clock.now() - now;
    if (seen === null || seen !== before.seen || Math.abs(ahead - before.ahead) > JUMP_MS) changedAt = now;
    if (now - changedAt <= AFTER_COMMIT_MS) for (const loop of resting) loop.wakeIfDue();
  };
  return startLoop({ ...options, name: 'commits', everyMs: EVERY_MS, once });
}

/** A store that cannot answer is no reason to rest: the pass finds its fault. */
function orNull(version: () => string | null): string | null {
  try {
    return version();
  } catch {
    return null;
  }
}
