import type { EventStatus } from '../../domain/events/event.ts';

/** What senders call a thing that is wrong, or that has ended; any other word is neither. */
const STATUS_WORDS: Readonly<Record<string, EventStatus>> = Object.assign(
  Object.create(null) as Record<string, EventStatus>,
  {
    firing: 'firing',
    fired: 'firing',
    alerting: 'firing',
    alert: 'firing',
    triggered: 'firing',
    trigger: 'firing',
    active: 'firing',
    open: 'firing',
    problem: 'firing',
    down: 'firing',
    no_data: 'firing',
    resolved: 'resolved',
    resolve: 'resolved',
    recovered: 'resolved',
    recovery: 'resolved',
    closed: 'resolved',
    up: 'resolved',
    ok: 'resolved',
  } satisfies Record<string, EventStatus>,
);

/** The first of each line is the word that rules see. */
const SEVERITY_WORDS: readonly (readonly string[])[] = [
  ['critical', 'crit', 'page', 'emergency', 'fatal', 'disaster'],
  ['error', 'err', 'high', 'major'],
  ['warning', 'warn', 'medium', 'minor'],
  ['info', 'information', 'informational', 'notice', 'low', 'none'],
];
const SEVERITIES = new Map(
  SEVERITY_WORDS.flatMap(([plain = '', ...others]) => [plain, ...others].map((word) => [word, plain])),
);

/** Longer than any word above with blanks around it: a longer text never matches. */
const STATUS_CHARACTERS_MAX = 100;

/** Null for what is no text, and for a word that says neither. */
export function statusOf(value: unknown): EventStatus | null {
  return typeof value === 'string' && value.length <= STATUS_CHARACTERS_MAX
    ? (STATUS_WORDS[value.trim().toLowerCase()] ?? null)
    : null;
}

/** One word for what senders call differently; another word stays as it is, in lower case. Null for what is no text. */
export function severityOf(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  const word = value.trim().toLowerCase();
  return word === '' ? null : (SEVERITIES.get(word) ?? word);
}
