import type { FactsOf, MatchedFacts, NotificationFacts } from './notification-facts.ts';
import {
  LISTED_MAX,
  listOf,
  namesIn,
  namesOf,
  type NotificationContext,
  type NotificationRow,
  PLAIN,
  type Words,
} from './row.ts';

export const ruleRow: NotificationRow<'rule'> = {
  ...PLAIN,
  words: matched,
  terse: () => 'svc: a rule matched',
  burst: { key: ({ rule }) => `rule:${rule}`, fold: foldMatches },
};

export const rulesRow: NotificationRow<'rules'> = {
  ...PLAIN,
  words: matchedMany,
  terse: (facts) => (facts.count === 1 ? 'svc: a rule matched' : `svc: a rule matched ${facts.count} times`),
  burst: { key: ({ rule }) => `rule:${rule}`, fold: null },
};

function matched({ rule, eventId, event, message }: MatchedFacts, { baseUrl }: NotificationContext): Words {
  return {
    title: message ?? `Rule ${rule} matched`,
    message: `${event} (rule ${rule}, ${eventId})`,
    priority: 3,
    tags: ['bell'],
    click: `${baseUrl}/events/${eventId}`,
  };
}

function matchedMany({ rule, count, names, first }: FactsOf<'rules'>, context: NotificationContext): Words {
  const [only] = first;
  if (count === 1 && only !== undefined) return matched(only, context);
  const said = [...new Set(first.flatMap(({ message }) => message ?? []))];
  const what = said.length === 0 ? '' : `${said[0]}${said.length > 1 ? ' (and other messages)' : ''}: `;
  return {
    title: `Rule ${rule} matched ${count} times`,
    message: `${what}${namesOf(names)}. ${listOf(
      first.map(({ eventId }) => eventId),
      count,
    )}`,
    priority: 3,
    tags: ['bell'],
    click: `${context.baseUrl}/events`,
  };
}

function foldMatches(all: readonly NotificationFacts[]): NotificationFacts {
  const matches = all.filter((each) => each.kind === 'rule');
  return {
    kind: 'rules',
    rule: matches[0]?.rule ?? '',
    count: matches.length,
    names: namesIn(matches.map(({ event }) => event)),
    first: matches.slice(0, LISTED_MAX),
  };
}
