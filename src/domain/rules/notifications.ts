import {
  type AnyFacts,
  LISTED_MAX,
  listOf,
  namesIn,
  namesOf,
  type NotificationContext,
  type NotificationRow,
  PLAIN,
  type Words,
} from '../notify/row.ts';

/** A rule with the action `notify` matched an event. */
export interface MatchedFacts extends AnyFacts {
  readonly kind: 'rule';
  readonly rule: string;
  readonly eventId: string;
  readonly event: string;
  readonly message: string | null;
  /** Of the event while it fires; absent in what earlier builds stored. */
  readonly severity?: string | null;
}

interface ManyMatchedFacts {
  readonly rule: string;
  readonly count: number;
  readonly names: readonly string[];
  readonly first: readonly MatchedFacts[];
  /** The highest priority of them; absent in what earlier builds stored. */
  readonly urgent?: number;
}

const rule: NotificationRow<MatchedFacts> = {
  ...PLAIN,
  words: matched,
  terse: () => 'svc: a rule matched',
  burst: { key: (facts) => `rule:${facts.rule}`, fold: foldMatches },
};

const rules: NotificationRow<ManyMatchedFacts> = {
  ...PLAIN,
  words: matchedMany,
  terse: (facts) => (facts.count === 1 ? 'svc: a rule matched' : `svc: a rule matched ${facts.count} times`),
  burst: { key: (facts) => `rule:${facts.rule}`, fold: null },
};

const USUAL = 3;
/** By the words that the service makes of those of senders; another word is no reason to wake somebody. */
const PRIORITIES = new Map<string | null | undefined, number>([
  ['critical', 5],
  ['error', 4],
  ['warning', 3],
  ['info', 2],
]);

function priorityOf(severity: string | null | undefined): number {
  return PRIORITIES.get(severity) ?? USUAL;
}

export const RULE_NOTIFICATIONS = { rule, rules };

function matched(
  { rule: name, eventId, event, message, severity }: MatchedFacts,
  { baseUrl }: NotificationContext,
): Words {
  return {
    title: message ?? `Rule ${name} matched`,
    message: `${event} (rule ${name}, ${eventId})`,
    priority: priorityOf(severity),
    tags: ['bell'],
    click: `${baseUrl}/events/${eventId}`,
  };
}

function matchedMany(
  { rule: name, count, names, first, urgent = USUAL }: ManyMatchedFacts,
  context: NotificationContext,
): Words {
  const [only] = first;
  if (count === 1 && only !== undefined) return matched(only, context);
  const said = [...new Set(first.flatMap(({ message }) => message ?? []))];
  const what = said.length === 0 ? '' : `${said[0]}${said.length > 1 ? ' (and other messages)' : ''}: `;
  return {
    title: `Rule ${name} matched ${count} times`,
    message: `${what}${namesOf(names)}. ${listOf(
      first.map(({ eventId }) => eventId),
      count,
    )}`,
    priority: urgent,
    tags: ['bell'],
    click: `${context.baseUrl}/events`,
  };
}

function foldMatches(all: readonly AnyFacts[]): ManyMatchedFacts & { readonly kind: 'rules' } {
  const matches = all.filter((each): each is MatchedFacts => each.kind === 'rule');
  return {
    kind: 'rules',
    rule: matches[0]?.rule ?? '',
    count: matches.length,
    names: namesIn(matches.map(({ event }) => event)),
    first: matches.slice(0, LISTED_MAX),
    urgent: Math.max(...matches.map(({ severity }) => priorityOf(severity))),
  };
}
