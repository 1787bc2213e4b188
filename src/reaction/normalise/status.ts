import type { EventStatus } from '../../domain/events/event.ts';

/** The words of senders, after the word that rules see. */
const STATUSES = byWord<EventStatus>([
  ['firing', 'fired', 'alerting', 'alert', 'triggered', 'trigger', 'active', 'open', 'problem', 'down', 'no_data'],
  ['resolved', 'resolve', 'recovered', 'recovery', 'closed', 'up', 'ok'],
]);

const SEVERITIES = byWord<string>([
  ['critical', 'crit', 'page', 'emergency', 'fatal', 'disaster'],
  ['error', 'err', 'high', 'major'],
  ['warning', 'warn', 'medium', 'minor'],
  ['info', 'information', 'informational', 'notice', 'low', 'none'],
]);

function byWord<Plain extends string>(lines: readonly (readonly [Plain, ...string[]])[]): ReadonlyMap<string, Plain> {
  return new Map(lines.flatMap((words) => words.map((word) => [word, words[0]])));
}

/** Longer than any word above with blanks around it: a longer text never matches. */
const STATUS_CHARACTERS_MAX = 100;

/** Null for any other word, and for a value that is not text. */
export function statusOf(value: unknown): EventStatus | null {
  return typeof value === 'string' && value.length <= STATUS_CHARACTERS_MAX
    ? (STATUSES.get(value.trim().toLowerCase()) ?? null)
    : null;
}

/**
 * Converts the synonyms of senders to one word; other words are kept, in lower case. Null for a value that is not text.
 */
export function severityOf(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  const word = value.trim().toLowerCase();
  return word === '' ? null : (SEVERITIES.get(word) ?? word);
}
