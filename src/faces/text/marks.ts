import type { Display } from './display.ts';

/** By the word of a state. The word is always there too: a mark alone says nothing to a reader who does not know it. */
const MARKS: Readonly<Record<string, string>> = {
  awaiting_approval: '◆',
  pending: '◆',
  waiting: '○',
  queued: '○',
  running: '●',
  succeeded: '✓',
  approved: '✓',
  ok: '✓',
  failed: '✗',
  rejected: '✗',
  fail: '✗',
  degraded: '!',
  interrupted: '!',
  warn: '!',
  cancelled: '–',
  expired: '–',
  skipped: '–',
  unknown: '?',
};

/** The state with its mark on a terminal, so that a column of them is read at a glance; elsewhere the word alone. */
export function marked({ width }: Display, state: string): string {
  const mark = width === null || !Object.hasOwn(MARKS, state) ? undefined : MARKS[state];
  return mark === undefined ? state : `${mark} ${state}`;
}
