/** Words of events: what came in, and what became of it. */

/** The outcome of an event. `received` is not an outcome: it is the sum of all. */
export const EVENT_OUTCOMES = ['ignored', 'matched', 'suppressed', 'gated', 'fired', 'error'] as const;
export type EventOutcome = (typeof EVENT_OUTCOMES)[number];

/** The senders to a webhook: each has its own normaliser. */
export const WEBHOOK_SOURCES = ['generic', 'alertmanager', 'grafana', 'uptime-kuma', 'gatus', 'healthchecks'] as const;
export type WebhookSource = (typeof WEBHOOK_SOURCES)[number];

/** The sources of events inside the service. */
const INNER_SOURCES = ['host', 'job-outcome', 'check', 'drift', 'mute', 'silence'] as const;

export const EVENT_SOURCES = [...WEBHOOK_SOURCES, ...INNER_SOURCES] as const;
export type EventSource = (typeof EVENT_SOURCES)[number];

export const EVENT_STATUSES = ['firing', 'resolved'] as const;
export type EventStatus = (typeof EVENT_STATUSES)[number];

/** One thing that happened, in one form for all sources. */
export interface NormalEvent {
  readonly source: EventSource;
  /** Empty if the sender gave none. */
  readonly name: string;
  readonly status: EventStatus | null;
  readonly severity: string | null;
  /** What tells this thing from others, over its firing and its end. */
  readonly fingerprint: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/** Sources whose events say that something of the service ended, and are named after what it held. */
const ENDINGS: ReadonlySet<string> = new Set(['mute', 'silence'] satisfies EventSource[]);

/** What people read as the name of an event. The event of an ended silence has the name of its rule. */
export function titleOfEvent({
  source,
  name = '',
}: {
  readonly source: string;
  readonly name?: string | undefined;
}): string {
  if (name === '') return source;
  return ENDINGS.has(source) ? `the ${source} of ${name} ended` : name;
}

/** The value that a rule's expression sees as `event`. */
export interface EventFacts extends NormalEvent {
  readonly netgroup: string | null;
  /** Milliseconds since the epoch. */
  readonly receivedAt: number;
}

/** What an expression reads where no event started the job: every field is empty. */
export const NO_EVENT: EventFacts = {
  source: '' as EventSource,
  name: '',
  status: null,
  severity: null,
  fingerprint: '',
  labels: {},
  annotations: {},
  netgroup: null,
  receivedAt: 0,
};

/** A chain job → its outcome's event → rule → job may be so long. */
export const CHAIN_MAX = 3;

/** Bounds of one event: labels and annotations beyond them are cut, and an annotation says so. */
export const EVENT_LIMITS = { labels: 64, nameCharacters: 200, keyCharacters: 100, valueCharacters: 2_000 } as const;

/** The annotation that names what EVENT_LIMITS removed from an event. */
export const CUT_ANNOTATION = 'gatehouse_cut';

/** What one term of a rule's expression yields by itself. */
export interface RuleTerm {
  readonly term: string;
  readonly result: 'true' | 'false' | 'error';
  /** Of one that is not true: what it read, or what the error is. */
  readonly why: string | null;
}

/** The steps of an event; `page`, of the end of a job, says what suppressed its notification. */
export const TRACE_STEPS = [
  'rule',
  'silence',
  'cooldown',
  'duplicate',
  'cordon',
  'loop',
  'gate',
  'fire',
  'page',
] as const;

/** One step of an evaluation, in the order in which it was made. */
export interface TraceStep {
  readonly step: (typeof TRACE_STEPS)[number];
  /** The rule that the step belongs to; null for what concerns them all. */
  readonly rule: string | null;
  readonly result: 'passed' | 'stopped' | 'not reached' | 'error';
  /** A sentence, values-free but for names and labels' names. */
  readonly why: string;
  /** Of a rule: its terms, where they say more. Made when somebody asks, and never stored. */
  readonly terms?: RuleTerm[];
}

/** Of the transition of a check: one of the observations that agreed, as a row and a view have it. */
export interface CheckObservation {
  readonly observed_at: string;
  readonly status: string;
  /** Reads `1 of 3`. */
  readonly consecutive: string;
}

/** A step as a row has it. */
export type StoredStep =
  | readonly [step: TraceStep['step'], rule: string | null, result: TraceStep['result'], why: string]
  | readonly [unmatched: number, notTried: number]
  /** The name of a rule that did not match, in the rows of an earlier build. */
  | string;
