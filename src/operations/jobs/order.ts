import { shownCommit } from '../../domain/approvals/pinned.ts';
import { formatDuration } from '../../domain/duration.ts';
import { AUTHORED_TRIGGERS } from '../../domain/jobs/job.ts';
import { oneLine } from '../../domain/one-line.ts';
import { hostOf } from '../../domain/rules/mute.ts';
import { isEnd } from '../../domain/workflows/workflow.ts';
import { hostsNow } from '../../jobs/inventories/targets.ts';
import { QUEUE_RULES } from '../../jobs/kinds.ts';
import type { OrderParts } from '../../jobs/queue-rules.ts';
import { fromJson } from '../../lib/json.ts';
import { findApprovalOfJob } from '../../store/approvals/approvals.ts';
import { findEvent } from '../../store/events/events.ts';
import { askedBy } from '../../store/jobs/repeats.ts';
import type { Db, EventRow, JobRow, WorkflowRunRow, WorkflowStepRow } from '../../store/schema/schema.ts';
import { findStepOfJob, getRun, listSteps, stateOfStep } from '../../store/workflows/runs.ts';
import type { ViewData } from '../../views/views.ts';
import { hideSecrets, type SecretPlace } from '../secrets/hide-secrets.ts';

/** Names of hosts in an order; of more there is the count. */
const HOSTS_MAX = 200;
/** Characters of a text of a sender. */
const SUMMARY_CHARACTERS = 200;
const DESCRIPTION_CHARACTERS = 500;

/**
 * What a job orders. The words of a command and the variables of a playbook are there only where an author wrote them
 * on the machine, or where the order waited for an approval: else those of a caller are arguments of a job, which no
 * answer shows. Throws conflict where a stored secret cannot be opened, because it could not be hidden.
 */
export async function orderOf({ store, services }: SecretPlace, job: JobRow): Promise<ViewData<'order'>> {
  const { db } = store;
  const [parts, source] = await Promise.all([QUEUE_RULES[job.kind].order(db, job), sourceOf(db, job)]);
  // Who lets an inventory or a source ask for approvals lets who decides see the words, also those of a caller.
  const isHeld = job.initial_state === 'awaiting_approval';
  const showsWords = (source.isAuthored || isHeld) && parts.reveal !== false;
  const { inventory = null, limit = null, tags, skipTags, playbook = null, path = null } = parts;
  const { secrets, writable, egressPorts, command, extraVars } = parts;
  const what = {
    inventory,
    limit,
    tags: tags ?? null,
    skip_tags: skipTags ?? null,
    command: showsWords ? (command ?? null) : null,
    playbook,
    source: job.source,
    source_commit: shownCommit(job.pinned) ?? null,
    path,
    extra_vars: showsWords ? (extraVars ?? null) : null,
    secrets: secrets ?? null,
    writable: writable ?? null,
    changes: parts.changes ?? null,
  };
  // What a person reads is the text of the request, which has a tag; that of the job has none.
  const asked = await findApprovalOfJob(db, job.id);
  const why = {
    summary: asked === undefined ? job.summary : asked.summary,
    because: job.because,
    schedule: asked?.schedule ?? null,
    alert: source.event === undefined ? null : alertOf(source.event),
    step: source.step,
  };
  const { id: job_id, kind, timeout_ms: timeoutMs } = job;
  const hosts = await hostsOf(db, parts);
  const [names, shown, reasons] = await hideSecrets({ store, services }, [hosts?.names ?? [], what, why] as const);
  return {
    job_id,
    kind,
    ...shown,
    hosts: hosts === null ? null : { count: hosts.count, names },
    privileged: job.privileged === 1,
    egress_ports: egressPorts ?? null,
    timeout: formatDuration(timeoutMs),
    ...reasons,
    alert: cutAlert(reasons.alert),
  };
}

interface OrderSource {
  /** An author wrote it on the machine: a rule, a schedule or a workflow. */
  readonly isAuthored: boolean;
  /** The event that asked for it, or for the run of its workflow. */
  readonly event: EventRow | undefined;
  readonly step: ViewData<'order'>['step'];
}

/** Where the order of a job comes from, or that of the first one that it repeats. */
async function sourceOf(db: Db, row: JobRow): Promise<OrderSource> {
  const asked = await askedBy(db, row);
  const step = asked.job.trigger === 'workflow' ? await findStepOfJob(db, asked.job.id) : undefined;
  const run = step === undefined ? undefined : await getRun(db, step.run_id);
  const eventId = run === undefined ? asked.eventId : run.event_id;
  return {
    isAuthored: AUTHORED_TRIGGERS.includes(asked.job.trigger),
    event: eventId === null ? undefined : await findEvent(db, eventId),
    step: step === undefined || run === undefined ? null : await stepOf(db, run, step),
  };
}

/** With what went wrong in the run before it. */
async function stepOf(
  db: Db,
  { id, workflow }: WorkflowRunRow,
  { name, position }: WorkflowStepRow,
): Promise<ViewData<'order'>['step']> {
  const before = (await listSteps(db, id)).filter((each) => each.position < position);
  const wrong = before
    .map((each) => ({ name: each.name, state: stateOfStep(each) }))
    .filter(({ state }) => isEnd(state) && state !== 'succeeded' && state !== 'skipped');
  return { run_id: id, workflow, name, failed_before: wrong };
}

async function hostsOf(
  db: Db,
  { inventory, limit = null, isOfEvent }: OrderParts,
): Promise<ViewData<'order'>['hosts']> {
  if (inventory === undefined) return null;
  const names = await hostsNow(db, { inventory, limit, isOfEvent });
  return { count: names.length, names: names.slice(0, HOSTS_MAX) };
}

function alertOf({ name, status, severity, labels, annotations }: EventRow): ViewData<'order'>['alert'] {
  const { summary, description }: { readonly summary?: string; readonly description?: string } = fromJson(annotations);
  return {
    name,
    status,
    severity,
    host: hostOf(fromJson(labels)),
    sender_text: { summary: lineOf(summary), description: lineOf(description) },
  };
}

function lineOf(text: string | undefined): string | null {
  return text === undefined ? null : oneLine(text);
}

/** After secrets are hidden: of a part of one nothing would be found. */
function cutAlert(alert: ViewData<'order'>['alert']): ViewData<'order'>['alert'] {
  if (alert === null) return null;
  const { summary, description } = alert.sender_text;
  const sender_text = {
    summary: cut(summary, SUMMARY_CHARACTERS),
    description: cut(description, DESCRIPTION_CHARACTERS),
  };
  return { ...alert, sender_text };
}

function cut(text: string | null, characters: number): string | null {
  const all = Array.from(text ?? '');
  return all.length <= characters ? text : `${all.slice(0, characters).join('')}…`;
}
