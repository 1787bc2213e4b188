import type { JobKind } from '../jobs/job.ts';
import type { KindFacts } from '../jobs/kind.ts';
import { KINDS } from '../kinds.ts';
import { oneLine } from '../one-line.ts';
import { shortCounts } from '../plan-words.ts';

/** What a job does, in one line for the person who decides about it. */

const SUMMARY_CHARACTERS_MAX = 200;
/** Characters of the name and of the host of an event: the sender chose them. */
const EVENT_CHARACTERS_MAX = 64;

/** What is wrong with a summary that somebody wrote; null where nothing is. */
export function summaryFault(text: string): string | null {
  if (text.length > SUMMARY_CHARACTERS_MAX) return `expected at most ${SUMMARY_CHARACTERS_MAX} characters`;
  if (text === '') return 'it is empty; expected one line of text';
  if (/[\r\n\v\f\u0085\u2028\u2029]/.test(text)) return 'it has a line break; expected one line of text';
  if (text !== text.trim()) return 'it begins or ends with a blank';
  if (/\s\s/.test(text)) return 'it has several blanks in a row';
  if (text !== oneLine(text)) return 'it has a control or invisible character';
  return text.includes('${') ? 'expected fixed text, without ${…}' : null;
}

export interface SummaryFacts {
  /** What is wrong with the request, in place of what it says; null for one that is as it was made. */
  readonly fault: string | null;
  readonly kind: JobKind;
  readonly workspace: string | null;
  readonly privileged: boolean;
  /** It may write directories outside its run. */
  readonly writesOutside: boolean;
  /** As written in the order; null without one. */
  readonly written: string | null;
  /** JSON of the order; null where it is not needed, because there is a written summary. */
  readonly spec: string | null;
  /** The counts of the saved plan; null without one. */
  readonly plan: string | null;
  /** Of the step of a workflow; null for other jobs. */
  readonly step: { readonly name: string; readonly workflow: string } | null;
  /** Whose time it was; null where no schedule asked. */
  readonly schedule: string | null;
  /** The event that requested the job; null without one. */
  readonly event: { readonly name: string | null; readonly host: string | null } | null;
}

/** Such as `run a command on localhost (unsandboxed) · DiskFull on db1`. */
export function summarise(facts: SummaryFacts): string {
  const { fault, written, plan, privileged, writesOutside, event } = facts;
  if (fault !== null) return fault;
  const what = written ?? plan?.replace(/\.$/, '') ?? titleOf(facts);
  const reach = privileged ? ' (unsandboxed)' : writesOutside ? ' (writes outside its run)' : '';
  return `${what}${reach}${askedIn(facts)}${event === null ? '' : cause(event)}`;
}

/** The same as a heading: `Apply net: 1 to destroy, 2 to create`, `Run a command on localhost · DiskFull on db1`. */
export function headingOf(facts: SummaryFacts): string {
  const { fault, kind, workspace, plan } = facts;
  const heading =
    fault !== null || plan === null ? summarise(facts) : `${kind} ${workspace ?? ''}: ${shortCounts(plan)}`;
  return heading.slice(0, 1).toUpperCase() + heading.slice(1);
}

/** Tells the requests of one author apart, whose summaries may be the same. */
function askedIn({ step, schedule, plan, written }: SummaryFacts): string {
  if (step !== null) return ` (step ${step.name} of workflow ${step.workflow})`;
  return schedule === null || (plan !== null && written === null) ? '' : ` (schedule ${schedule})`;
}

function titleOf({ kind, workspace, spec }: SummaryFacts): string {
  const row: KindFacts<unknown> = KINDS[kind];
  // After the kind, a runbook names what the job works on.
  const order = row.readSpec(spec ?? '{}');
  const about = row.about?.(order) ?? row.runbook(order).replace(/^[^:]*:/, '');
  const title = row.words.title(workspace ?? about, false);
  return title.slice(0, 1).toLowerCase() + title.slice(1);
}

function cause({ name, host }: NonNullable<SummaryFacts['event']>): string {
  const parts = [...(name === null ? [] : [cut(name)]), ...(host === null ? [] : [`on ${cut(host)}`])];
  return parts.length === 0 ? '' : ` · ${parts.join(' ')}`;
}

function cut(text: string): string {
  return oneLine(Array.from(oneLine(text)).slice(0, EVENT_CHARACTERS_MAX).join(''));
}
