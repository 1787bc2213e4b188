import type * as Cel from '@bufbuild/cel';
import { type CelContext, checkCel } from '../cel/cel.ts';
import type { CelShape } from '../cel/shape.ts';
import { EVENT_LIMITS, type EventFacts } from '../events/event.ts';

/** What a rule's expression sees, and what each event is made into for it. */

/** Most steps of one evaluation, for an event with the most and longest labels. Everything else waits for it. */
const RULE_STEPS_MAX = 50_000;

const text = (length: number): CelShape => ({ kind: 'text', length });
const PAIRS: CelShape = { kind: 'map', count: EVENT_LIMITS.labels, of: text(EVENT_LIMITS.valueCharacters) };

const EVENT_SHAPE: CelShape = {
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

/** Makes the library's forms of the event's parts; loaded with the first expression. */
interface CelForms {
  readonly toTime: (at: string) => Cel.CelInput;
  readonly toMap: typeof Cel.celMap;
}

let forms: CelForms | null = null;

/** Must be called once before `eventContext`. */
async function prepareContexts(): Promise<void> {
  if (forms !== null) return;
  const { plan, parse, celEnv, celMap, isCelError } = await import('@bufbuild/cel');
  const run = plan(celEnv(), parse('timestamp(at)'));
  const toTime: CelForms['toTime'] = (at) => {
    const time = run({ at });
    return isCelError(time) ? null : time;
  };
  forms = { toTime, toMap: celMap };
}

/** The last one that was made: events that come together have the same. */
let lastTime: { readonly ms: number; readonly time: Cel.CelInput } = { ms: Number.NaN, time: null };

/** Null for what is no time: whatever is done with it is an error then. */
function timeOf(ms: number): Cel.CelInput {
  if (ms === lastTime.ms) return lastTime.time;
  const date = new Date(ms);
  const time = forms === null || Number.isNaN(date.getTime()) ? null : forms.toTime(date.toISOString());
  lastTime = { ms, time };
  return time;
}

const TEXT_FIELDS = ['source', 'name', 'status', 'severity', 'fingerprint', 'netgroup'] as const;
type TextField = (typeof TEXT_FIELDS)[number];

export function isTextField(field: string): field is TextField {
  return (TEXT_FIELDS as readonly string[]).includes(field);
}

/** A text of the event as an expression sees it. A missing text is empty: a comparison with it is not an error. */
export function eventText(facts: EventFacts, field: TextField): string {
  return facts[field] ?? '';
}

/** The text of a label or an annotation: empty where the event does not have it, as in Prometheus. */
export function pairText(pairs: Readonly<Record<string, string>>, name: string): string {
  return Object.hasOwn(pairs, name) ? (pairs[name] ?? '') : '';
}

/** Labels or annotations for the library: `has` and `in` test which ones exist, and any other name reads as empty. */
function pairsOf(pairs: Readonly<Record<string, string>>): Cel.CelInput {
  if (forms === null) throw new Error('prepareContexts was not called');
  const map = forms.toMap(new Map(Object.entries(pairs)));
  const get = map.get.bind(map);
  return Object.assign(map, {
    get: (key: Parameters<typeof get>[0]) => get(key) ?? (typeof key === 'string' ? '' : undefined),
    has: (key: Parameters<typeof get>[0]) => get(key) !== undefined,
  });
}

const contexts = new WeakMap<EventFacts, CelContext>();

/** The event as `event`. Made once for all rules that are evaluated on it. */
export function eventContext(facts: EventFacts): CelContext {
  const made = contexts.get(facts);
  if (made !== undefined) return made;
  const event = new Map<string, Cel.CelInput>([
    ...TEXT_FIELDS.map((field): [string, string] => [field, eventText(facts, field)]),
    ['labels', pairsOf(facts.labels)],
    ['annotations', pairsOf(facts.annotations)],
    ['received_at', timeOf(facts.receivedAt)],
  ] satisfies [string, Cel.CelInput][]);
  const context = { event };
  contexts.set(facts, context);
  return context;
}

/** Checks an expression over `event`. Throws CelRefused. */
export async function checkRuleCel(expression: string): ReturnType<typeof checkCel> {
  await prepareContexts();
  return checkCel(expression, { roots: { event: EVENT_SHAPE }, stepsMax: RULE_STEPS_MAX });
}
