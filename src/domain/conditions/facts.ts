import type * as Cel from '@bufbuild/cel';
import { type CelContext, checkCel } from '../cel/cel.ts';
import type { CelShape } from '../cel/shape.ts';
import { EVENT_LIMITS, type EventFacts } from '../events/event.ts';

/** What a rule's expression sees, and what each event is made into for it. */

/**
 * Steps that one evaluation may take, reckoned for an event with as many and as long labels as there may be. Everything
 * else waits for it.
 */
export const RULE_STEPS_MAX = 50_000;

const text = (length: number): CelShape => ({ kind: 'text', length });
const PAIRS: CelShape = { kind: 'map', count: EVENT_LIMITS.labels, of: text(EVENT_LIMITS.valueCharacters) };

export const EVENT_SHAPE: CelShape = {
  kind: 'record',
  what: 'event',
  fields: {
    source: text(32),
    name: text(EVENT_LIMITS.nameCharacters),
    status: text(16),
    severity: text(EVENT_LIMITS.nameCharacters),
    fingerprint: text(EVENT_LIMITS.nameCharacters),
    netgroup: text(63),
    labels: PAIRS,
    annotations: PAIRS,
    received_at: { kind: 'time' },
  },
};

/** Makes the library's form of a time from its text; loaded with the first expression. */
let toTime: ((at: string) => Cel.CelInput) | null = null;

/** Has to be called, once, before `eventContext`. */
export async function prepareTimes(): Promise<void> {
  if (toTime !== null) return;
  const { plan, parse, celEnv, isCelError } = await import('@bufbuild/cel');
  const run = plan(celEnv(), parse('timestamp(at)'));
  toTime = (at) => {
    const time = run({ at });
    return isCelError(time) ? null : time;
  };
}

/** The last one that was made: events that come together have the same. */
let lastTime: { readonly ms: number; readonly time: Cel.CelInput } = { ms: Number.NaN, time: null };

/** Null for what is no time: whatever is done with it is an error then. */
function timeOf(ms: number): Cel.CelInput {
  if (ms === lastTime.ms) return lastTime.time;
  const date = new Date(ms);
  const time = toTime === null || Number.isNaN(date.getTime()) ? null : toTime(date.toISOString());
  lastTime = { ms, time };
  return time;
}

const TEXT_FIELDS = ['source', 'name', 'status', 'severity', 'fingerprint', 'netgroup'] as const;
type TextField = (typeof TEXT_FIELDS)[number];

export function isTextField(field: string): field is TextField {
  return (TEXT_FIELDS as readonly string[]).includes(field);
}

/**
 * A text of the event as an expression sees it: what the sender did not give is empty, so that a comparison is false
 * and no error.
 */
export function eventText(facts: EventFacts, field: TextField): string {
  return facts[field] ?? '';
}

const contexts = new WeakMap<EventFacts, CelContext>();

/**
 * The event as `event`. Made once for all rules that are tried on the event.
 */
export function eventContext(facts: EventFacts): CelContext {
  const made = contexts.get(facts);
  if (made !== undefined) return made;
  const event = new Map<string, Cel.CelInput>([
    ...TEXT_FIELDS.map((field): [string, string] => [field, eventText(facts, field)]),
    ['labels', new Map(Object.entries(facts.labels))],
    ['annotations', new Map(Object.entries(facts.annotations))],
    ['received_at', timeOf(facts.receivedAt)],
  ] satisfies [string, Cel.CelInput][]);
  const context = { event };
  contexts.set(facts, context);
  return context;
}

/** Labels' names that a message shows at most, and characters of each: they are the sender's. */
const NAMES_SHOWN = 20;
const NAME_SHOWN_CHARACTERS = 40;

/** A sentence's part on a label that is not there, with the names of those that are. */
export function missingLabel(missing: string, facts: EventFacts): string {
  const seen = Object.keys(facts.labels).toSorted();
  const shown = seen
    .slice(0, NAMES_SHOWN)
    .map((name) => (name.length > NAME_SHOWN_CHARACTERS ? `${name.slice(0, NAME_SHOWN_CHARACTERS)}…` : name));
  const rest = seen.length > NAMES_SHOWN ? ` and ${seen.length - NAMES_SHOWN} more` : '';
  const has = seen.length === 0 ? 'it has no labels' : `its labels are ${shown.join(', ')}${rest}`;
  return `the event has no ${JSON.stringify(missing)}; ${has}`;
}

/** Checks an expression over `event`. Throws CelRefused. */
export async function checkRuleCel(expression: string): ReturnType<typeof checkCel> {
  await prepareTimes();
  return checkCel(expression, { roots: { event: EVENT_SHAPE }, stepsMax: RULE_STEPS_MAX });
}
