/** What must hold when nothing is left to happen: each row is explained, and each promise was kept. */
import type { Rows } from '../rules/rules.ts';
import { differences } from './compare.ts';
import type { Oracle } from './oracle.ts';
import { isEnd, type Model, type ModelJob } from './model.ts';

interface EventFact {
  readonly id: string;
  readonly source: string;
  readonly outcome: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly job: string | null;
}

/** Sentences, each of which is a promise that was not kept. */
export function quiet(oracle: Oracle, rows: Rows, messages: readonly string[]): string[] {
  if (oracle.isAsleep) return [];
  oracle.committed();
  const { model } = oracle;
  const events = rows('select id, source, outcome, labels, job_id from events').map((row) => ({
    id: String(row['id']),
    source: String(row['source']),
    outcome: String(row['outcome']),
    labels: JSON.parse(String(row['labels'])) as EventFact['labels'],
    job: row['job_id'] as string | null,
  }));
  const pages = new Map(rows('select topic, id, state from pages').map((row) => [String(row['topic']), row]));
  const shown = new Set(messages.map((each) => (JSON.parse(each) as { id: string }).id));
  return [
    ...differences(model, oracle.rows()),
    ...[...model.jobs.values()].flatMap((job) => [...ofJob(model, job, events)]),
    ...ofApprovals(model),
    ...ofRuns(model),
    ...ofEvents(model, events),
    ...ofMessages(model, pages, shown),
  ];
}

function* ofJob(model: Model, job: ModelJob, events: readonly EventFact[]): Generator<string> {
  const { id, state, history } = job;
  const ends = history.filter((each) => isEnd(each.state));
  if (ends.length !== 1) yield `job ${id} has ended ${ends.length} times`;
  const outcomes = events.filter(({ source, labels }) => source === 'job-outcome' && labels['job_id'] === id);
  if (outcomes.length !== 1) yield `job ${id} has ${outcomes.length} events of its end`;
  for (const { labels } of outcomes)
    if (labels['state'] !== state) yield `the event of job ${id}, which is ${state}, says ${labels['state']}`;
  const approval = model.approvals.get(job.approval ?? '');
  const hasRun = history.some((each) => each.state === 'running');
  if (approval !== undefined && approval.state !== 'approved' && (hasRun || state !== 'cancelled'))
    yield `job ${id} is ${state}, and its approval ${approval.state}`;
  if (job.trigger === 'workflow' && job.run === null) yield `job ${id} is of no workflow run`;
}

function* ofApprovals(model: Model): Generator<string> {
  for (const { id, state, job } of model.approvals.values()) {
    if (state === 'pending') yield `approval ${id} is still pending`;
    if (!model.jobs.has(job)) yield `approval ${id} is of ${job}, which is not there`;
  }
}

function* ofRuns(model: Model): Generator<string> {
  for (const run of model.runs.values()) {
    if (!isEnd(run.state)) yield `workflow run ${run.id} is still ${run.state}`;
    if (!run.isAsked) yield `workflow run ${run.id} was asked for by no one`;
    const isWhole = [...run.steps.values()].every(({ job }) => model.jobs.get(job ?? '')?.state === 'succeeded');
    if (isWhole && run.state !== 'succeeded') yield `workflow run ${run.id} is ${run.state}, and each step succeeded`;
  }
}

function* ofEvents(model: Model, events: readonly EventFact[]): Generator<string> {
  const fired = new Set(model.fires.values());
  for (const { id, source, outcome, labels, job: made } of events) {
    const ended = model.jobs.get(labels['job_id'] ?? '');
    if (source === 'job-outcome' && labels['job_id'] !== undefined && ended === undefined)
      yield `event ${id} is of the end of ${labels['job_id']}, which is not there`;
    if (outcome !== 'fired' && outcome !== 'gated') continue;
    const job = model.jobs.get(made ?? '');
    if (made === null || job === undefined || !fired.has(made)) yield `event ${id} is ${outcome}, and made no job`;
    // The people who asked for what ended have asked for what follows from it.
    else if (ended !== undefined && !ended.owners.every((owner) => job.owners.includes(owner)))
      yield `job ${made} follows from ${ended.id}, without its owners ${ended.owners.join(', ')}`;
  }
}

type Pages = ReadonlyMap<string, Readonly<Record<string, unknown>>>;

/** Longer than a killed or stopped daemon is away, and than it takes it to notify. */
const NOTIFIED_MS = 30_000;

/** The people who have to decide are notified, while there is time: a clock that is set ahead may leave none. */
function* ofMessages(model: Model, pages: Pages, shown: ReadonlySet<string>): Generator<string> {
  for (const { id, state, askedAt, endedAt } of model.approvals.values()) {
    const page = pages.get(`approval:${id}`);
    const hadTime = endedAt !== null && endedAt - askedAt > NOTIFIED_MS;
    if (state === 'expired' && hadTime && page === undefined)
      yield `approval ${id} has expired, and no one was notified`;
  }
  for (const [topic, { id, state }] of pages) {
    const approval = /^approval:(.+)$/.exec(topic)?.[1];
    const job = /^job:(.+)$/.exec(topic)?.[1];
    if (approval !== undefined && !model.approvals.has(approval)) yield `a notification is of approval ${approval}`;
    if (job !== undefined && !model.jobs.has(job)) yield `a notification is of job ${job}, which is not there`;
    if (state === 'new' && shown.has(String(id))) yield `the notification of ${topic} was shown, and is still new`;
  }
}
