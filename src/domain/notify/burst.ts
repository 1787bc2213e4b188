/** Of many notifications of one kind at once, people get the first ones and then one that counts the others. */

/** Notifications sent one by one within a minute. People do not read more than this one by one. */
export const SINGLE_MAX = 5;
/** What is counted together, and how far apart two pages that count are at least, in milliseconds. */
export const WINDOW_MS = 60_000;
/** How long a burst is gathered, in milliseconds: it counts most of it while a reader of the first ones waits. */
export const GATHER_MS = 10_000;

export interface BurstStanding {
  readonly waiting: number;
  /** When the oldest of those was asked for, in milliseconds since the epoch. */
  readonly oldestAt: number;
  /** Shown one by one within the last minute. */
  readonly shown: number;
  /** Notifications within the last minute that summarised others. */
  readonly folded: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** The next step: send `singles` one by one, or fold all that wait into one notification. Neither: keep waiting. */
export interface BurstStep {
  readonly singles: number;
  readonly fold: boolean;
}

const WAIT: BurstStep = { singles: 0, fold: false };

/** A summary is sent GATHER_MS after the first notification that it counts, or a minute after the last summary. */
export function burstStep({ waiting, oldestAt, shown, folded, now }: BurstStanding): BurstStep {
  if (waiting === 0 || folded > 0) return WAIT;
  const room = Math.max(0, SINGLE_MAX - shown);
  if (waiting <= room) return { singles: waiting, fold: false };
  // A clock that was set back must not delay them for as long as it was wrong.
  if (Math.abs(now - oldestAt) >= GATHER_MS) return { singles: 0, fold: true };
  return { singles: room, fold: false };
}
