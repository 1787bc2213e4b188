import { fromJson, type Json } from '../lib/json.ts';
import { APPROVAL_NOTIFICATIONS, type AskedFacts } from './approvals/notifications.ts';
import { DEADMAN_NOTIFICATIONS } from './deadman/notifications.ts';
import { JOB_NOTIFICATIONS } from './jobs/notifications.ts';
import { TEST_NOTIFICATIONS } from './notify/notifications.ts';
import type { NotificationContext, NotificationMessage, NotificationRow } from './notify/row.ts';
import { oneLine } from './one-line.ts';
import { RULE_NOTIFICATIONS } from './rules/notifications.ts';
import { WORKFLOW_NOTIFICATIONS } from './workflows/notifications.ts';

/** Every kind of notification; the rows belong to the areas. */
const NOTIFICATIONS = {
  ...APPROVAL_NOTIFICATIONS,
  ...JOB_NOTIFICATIONS,
  ...WORKFLOW_NOTIFICATIONS,
  ...RULE_NOTIFICATIONS,
  ...DEADMAN_NOTIFICATIONS,
  ...TEST_NOTIFICATIONS,
};

export type NotificationKind = keyof typeof NOTIFICATIONS;

/** The facts of a notification of one of these kinds. */
type FactsOf<K extends NotificationKind> = {
  [P in K]: { readonly kind: P } & Parameters<(typeof NOTIFICATIONS)[P]['words']>[0];
}[K];

export type NotificationFacts = FactsOf<NotificationKind>;

export const NOTIFICATION_KINDS = Object.keys(NOTIFICATIONS) as NotificationKind[];

const ROWS: { readonly [K in NotificationKind]: NotificationRow<FactsOf<K>> } = NOTIFICATIONS;

function rowOf<K extends NotificationKind>(kind: K): NotificationRow<FactsOf<K>> {
  return ROWS[kind];
}

/** The text and buttons of a notification at a level of detail: names, states and counts, never an operator's value. */
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
export function askedIn(facts: NotificationFacts): AskedFacts | null {
  return rowOf(facts.kind).asks ? (facts as AskedFacts & NotificationFacts) : null;
}

/** What it is counted with when many come at once; null for one that is always sent on its own. */
export function burstOf<K extends NotificationKind>(facts: FactsOf<K>): string | null {
  return rowOf<K>(facts.kind).burst?.key(facts) ?? null;
}

/** Kinds that summarise others. */
export const FOLD_KINDS: readonly NotificationKind[] = NOTIFICATION_KINDS.filter(
  (kind) => rowOf(kind).burst?.fold === null,
);

/** Of stored facts, those that can be summarised: a row that somebody wrote into the database may have any text. */
export function foldable(details: readonly Json<NotificationFacts>[]): NotificationFacts[] {
  return details.flatMap((text) => {
    try {
      const facts: NotificationFacts | null = fromJson(text);
      const isKnown = NOTIFICATION_KINDS.some((kind) => kind === facts?.kind);
      return facts !== null && isKnown && rowOf(facts.kind).burst?.fold ? [facts] : [];
    } catch {
      return [];
    }
  });
}

/** The notification that summarises these, the oldest first: all of one burst, at least one that can be summarised. */
export function foldFacts(all: readonly NotificationFacts[]): NotificationFacts {
  for (const { kind } of all) {
    const fold = rowOf(kind).burst?.fold;
    if (fold) return fold(all) as NotificationFacts;
  }
  throw new Error('none of these notifications can be summarised');
}
