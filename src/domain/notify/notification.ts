import { oneLine } from '../one-line.ts';
import { rowOf } from './kinds.ts';
import type { AskedFacts, FactsOf, NotificationKind } from './notification-facts.ts';
import type { NotificationContext, NotificationMessage } from './row.ts';

/** The texts of notifications: names, states and counts, never a value that an operator gave. */

/** The text and buttons of a notification at a level of detail. */
export function composeNotification<K extends NotificationKind>(
  facts: FactsOf<K>,
  context: NotificationContext,
): NotificationMessage {
  const row = rowOf<K>(facts.kind);
  const { title, message, ...others } = row.words(facts, context);
  // People may have several services, and their phones show the title alone.
  const words = { ...others, title: oneLine(`${title} · gatehouse on ${context.node}`), message: oneLine(message) };
  const whole = { ...words, id: context.id, actions: context.detail === 'full' ? (words.actions ?? []) : [] };
  if (context.detail !== 'terse') return whole;
  return { ...whole, title: oneLine(row.terse(facts)), message: oneLine(row.jobIds(facts)) };
}

/** The request that a notification asks to decide; null for one that asks nothing. */
export function askedIn<K extends NotificationKind>(facts: FactsOf<K>): AskedFacts | null {
  return rowOf<K>(facts.kind).asked(facts);
}
