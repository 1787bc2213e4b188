import { titleOfEvent } from '../../../domain/events/event.ts';
import type { Projected } from '../../../views/views.ts';
import type { Display, Paint } from '../../text/display.ts';
import { paint } from '../../text/display.ts';
import { inline } from '../../text/safe.ts';
import { sheet, type Sheet, table, type Table, type Text } from '../../text/blocks.ts';
import { absolute, relative } from '../../text/time.ts';

type Event = Projected<'event.get'>;
type Listed = Projected<'event.list'>[number];
type Step = Projected<'event.trace'>['steps'][number];

export const OUTCOME_PAINTS: Readonly<Record<Event['outcome'], Paint>> = {
  ignored: 'dim',
  matched: 'cyan',
  suppressed: 'yellow',
  gated: 'magenta',
  fired: 'green',
  error: 'red',
};

const NO_EVENTS = 'No events. Create a URL that receives alerts with: svc webhook add NAME --source alertmanager';

function eventList(data: Projected<'event.list'>, display: Display): Table {
  return table(folded(data), NO_EVENTS, [
    { title: 'OUTCOME', cell: (each) => each.outcome, paint: (each) => OUTCOME_PAINTS[each.outcome] },
    { title: 'ID', cell: (each) => each.id },
    { title: 'SOURCE', cell: (each) => each.source, mayDrop: true },
    { title: 'NAME', cell: nameOf, mayCut: true },
    { title: 'STATUS', cell: (each) => each.status ?? '-', mayDrop: true },
    { title: 'RECEIVED', cell: (each) => relative(each.received_at, display.nowMs) },
    { title: 'WHY', cell: (each) => reasonText(each.reason), mayCut: true },
  ]);
}

interface Folded extends Listed {
  /** The events that the row stands for. */
  readonly count: number;
}

/** Runs of ends of jobs that no rule is about are one row each: else they hide the alerts between them. */
function folded(all: readonly Listed[]): Folded[] {
  const rows: Folded[] = [];
  for (const each of all) {
    const last = rows.at(-1);
    if (last !== undefined && isIdleEnd(last) && isIdleEnd(each))
      rows[rows.length - 1] = { ...last, count: last.count + 1 };
    else rows.push({ ...each, count: 1 });
  }
  return rows;
}

function isIdleEnd({ source, outcome }: Listed): boolean {
  return source === 'job-outcome' && outcome === 'ignored';
}

function nameOf(each: Folded): string {
  if (each.count > 1) return `${each.name ?? '-'} and ${each.count - 1} more job ends`;
  return each.name === undefined ? '-' : titleOfEvent(each);
}

/** Sentences for the reasons that the contract fixes to one word. */
const REASON_WORDS: Readonly<Record<string, string>> = {
  cordoned: 'cordoned: while the service is cordoned, events queue no jobs.',
  loop: 'loop: the event ends a chain of too many jobs, each queued when the previous one ended. See the steps.',
};

/** A reason as people read it. */
export function reasonText(reason: string): string {
  return REASON_WORDS[reason] ?? reason;
}

function eventSheet(data: Event, display: Display): Text {
  const head = sheet([
    ['Event', data.id],
    ['Outcome', data.outcome],
    ['Why', reasonText(data.reason)],
    ['Source', data.source],
    ['Name', data.name],
    ['Meaning', titleOfEvent(data) === (data.name ?? data.source) ? null : titleOfEvent(data)],
    ['Status', data.status],
    ['Severity', data.severity],
    ['Fingerprint', data.fingerprint],
    ['Netgroup', data.netgroup],
    ['Received', absolute(data.received_at, display.nowMs)],
    ['Rule', data.rule],
    ['Job', data.job_state === null ? data.job_id : `${data.job_id ?? ''} (${data.job_state})`],
    ['Approval', data.approval_id],
  ]);
  const labels = Object.entries(data.labels).map(([name, value]) => [`  ${name}`, value] as const);
  return labels.length === 0 ? head : [head, 'Labels:\n', sheet(labels)];
}

function eventSummary(data: Projected<'event.summary'>): Sheet {
  return sheet(
    Object.entries(data).map(([name, count]) => [`${name[0]?.toUpperCase() ?? ''}${name.slice(1)}`, String(count)]),
  );
}

/** The first word has the meaning; colour only emphasises it. */
const RESULT_PAINT: Readonly<Record<Step['result'], Paint>> = {
  passed: 'green',
  stopped: 'yellow',
  'not reached': 'dim',
  error: 'red',
};

const TERM_PAINT: Readonly<Record<NonNullable<Step['terms']>[number]['result'], Paint>> = {
  true: 'green',
  false: 'yellow',
  error: 'red',
};

/** An annotation is cut after a paragraph; the JSON output has all of it. */
const ANNOTATION_CHARACTERS = 300;

function eventTrace({ steps: all, annotations }: Projected<'event.trace'>, display: Display): Text {
  const said = Object.entries(annotations).map(([name, value]) => [`  ${name}`, shortened(value)] as const);
  const head = said.length === 0 ? [] : ['Annotations:\n', sheet(said), '\n'];
  return [...head, steps(all, display)];
}

function shortened(text: string): string {
  const letters = Array.from(text);
  return letters.length <= ANNOTATION_CHARACTERS ? text : `${letters.slice(0, ANNOTATION_CHARACTERS).join('')}…`;
}

/** The terms are shown for at most this number of rules that did not match; more would hide the rule that fired. */
const EXPLAINED_MAX = 20;

/** The steps to the outcome of an event, or to its outcome by one rule. */
export function steps(all: readonly Step[], display: Display): string {
  if (all.length === 0) return 'No rule was evaluated.\n';
  const explained = new Set(
    all.filter(({ terms, result }) => terms !== undefined && result === 'stopped').slice(0, EXPLAINED_MAX),
  );
  const isExplained = (step: Step): boolean => step.result !== 'stopped' || explained.has(step);
  const lines = all.flatMap((step) => [line(step, display), ...(isExplained(step) ? termLines(step, display) : [])]);
  return lines.map((each) => `${each}\n`).join('');
}

/** Leaves out what the step itself says already. */
function termLines({ terms = [], why: said }: Step, display: Display): string[] {
  return terms.map(({ term, result, why }) => {
    const head = `${' '.repeat(15)}${paint(display, TERM_PAINT[result], result.padEnd(5))}  ${inline(term)}`;
    return why === null || said.includes(why) ? head : `${head}\n${' '.repeat(24)}${inline(why)}`;
  });
}

function line({ step, rule, result, why }: Step, display: Display): string {
  const what = step !== 'rule' ? `  ${step}` : rule === null ? 'rules' : `rule ${rule}`;
  return `${paint(display, RESULT_PAINT[result], result.padEnd(11))}  ${inline(what)}: ${inline(why)}`;
}

export const EVENTS_TEXTS = {
  'event.list': eventList,
  'event.get': eventSheet,
  'event.summary': eventSummary,
  'event.trace': eventTrace,
};
