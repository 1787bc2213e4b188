import type { JobState } from '../jobs/job.ts';
import { NAMES_MAX } from './notification.ts';
import type { EndedFacts, NotificationFacts, NotificationKind } from './notification-facts.ts';

/** Of many notifications of one kind at once, people get the first ones and then one that counts the others. */

/** Notifications sent one by one within a minute. People do not read more than this one by one. */
export const SINGLE_MAX = 5;
/** What is counted together, and how far apart two pages that count are at least, in milliseconds. */
export const WINDOW_MS = 60_000;
/**
 * How long the other notifications of a burst are gathered, in milliseconds: long enough to count most of the burst,
 * and short enough that a reader of the first ones still waits for it.
 */
export const GATHER_MS = 10_000;
/** Jobs and events that a page names when it counts: their ids fill a lock screen several times over. */
const LISTED_MAX = 20;

/** What the page is counted with when many come at once; null for one that is always shown on its own. */
export function burstOf(facts: NotificationFacts): string | null {
  if (facts.kind === 'job' || facts.kind === 'jobs') return 'job';
  return facts.kind === 'rule' || facts.kind === 'rules' ? `rule:${facts.rule}` : null;
}

/** Kinds of pages that speak for others. */
export const FOLD_KINDS = ['jobs', 'rules'] as const satisfies readonly NotificationKind[];

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

/**
 * Nothing waits longer than a minute: a summary is sent GATHER_MS after the first notification that it counts, or a
 * minute after the previous summary.
 */
export function burstStep({ waiting, oldestAt, shown, folded, now }: BurstStanding): BurstStep {
  if (waiting === 0 || folded > 0) return WAIT;
  const room = Math.max(0, SINGLE_MAX - shown);
  if (waiting <= room) return { singles: waiting, fold: false };
  // A clock that was set back must not delay them for as long as it was wrong.
  if (Math.abs(now - oldestAt) >= GATHER_MS) return { singles: 0, fold: true };
  return { singles: room, fold: false };
}

/** The notification that summarises these, the oldest first: all of one burst, at least one. */
export function foldFacts(notifications: readonly NotificationFacts[]): NotificationFacts {
  const jobs = notifications.filter((each) => each.kind === 'job');
  if (jobs.length > 0) {
    return {
      kind: 'jobs',
      count: jobs.length,
      names: namesIn(jobs.map(({ runbook }) => runbook)),
      states: stateCounts(jobs),
      first: jobs.slice(0, LISTED_MAX),
    };
  }
  const matches = notifications.filter((each) => each.kind === 'rule');
  const [first] = matches;
  if (first === undefined) throw new Error('only notifications about jobs and rules are folded');
  return {
    kind: 'rules',
    rule: first.rule,
    count: matches.length,
    names: namesIn(matches.map(({ event }) => event)),
    first: matches.slice(0, LISTED_MAX),
  };
}

function namesIn(all: readonly string[]): string[] {
  return [...new Set(all)].slice(0, NAMES_MAX + 1);
}

function stateCounts(ended: readonly EndedFacts[]): Partial<Record<JobState, number>> {
  const counts: Partial<Record<JobState, number>> = {};
  for (const { state } of ended) counts[state] = (counts[state] ?? 0) + 1;
  return counts;
}
