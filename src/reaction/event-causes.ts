import { jobDependencies, type Subject, subjectOf } from '../domain/events/causes.ts';
import type { EventSource, WebhookSource } from '../domain/events/event.ts';
import { inventoryIn } from '../domain/kinds.ts';
import { fromJson } from '../lib/json.ts';
import { runDependencies } from '../jobs/workflows/run-dependencies.ts';
import { ownersOfTokens } from '../store/access/tokens.ts';
import { findEvent } from '../store/events/events.ts';
import { findJob } from '../store/jobs/jobs.ts';
import type { Db, EventRow, JobRow, WorkflowRunRow } from '../store/schema/schema.ts';
import { findRun, listSteps } from '../store/workflows/runs.ts';
import { findWorkspace } from '../store/workspaces/workspaces.ts';
import { WEBHOOK_ANNOTATION } from './normalise/make-event.ts';

/** Who and what is behind an event: of a new one, and again of a stored one that another event follows from. */
interface Behind {
  readonly owners: readonly string[];
  readonly subjects: readonly Subject[];
}

const NOTHING: Behind = { owners: [], subjects: [] };

/** Behind a transition of a check; `netgroup` is null for a target that is not an address. */
export function behindCheck(check: string, netgroup: string | null): Behind {
  const subjects = [subjectOf('check', check), ...(netgroup === null ? [] : [subjectOf('netgroup', netgroup)])];
  return { owners: [], subjects };
}

/** Behind the end of a job, and the drift that it found. */
export function behindJob(job: JobRow): Behind {
  return { owners: fromJson(job.owners), subjects: jobDependencies(job, inventoryIn(job)) };
}

/** Behind the end of a run: all that the ends of its jobs depend on too. */
export async function behindRun(db: Db, run: WorkflowRunRow): Promise<Behind> {
  const steps = await listSteps(db, run.id);
  const subjects = new Set(runDependencies(run, steps));
  for (const { job_id: jobId } of steps) {
    const job = jobId === null ? undefined : await findJob(db, jobId);
    if (job !== undefined) for (const each of behindJob(job).subjects) subjects.add(each);
  }
  return { owners: fromJson(run.owners), subjects: [...subjects] };
}

type Reader = (db: Db, event: EventRow) => Promise<Behind>;

function labelOf({ labels }: EventRow, name: string): string | null {
  return fromJson(labels)[name] ?? null;
}

const ofWebhook: Reader = (_db, { annotations }) => {
  const webhook = fromJson(annotations)[WEBHOOK_ANNOTATION];
  return Promise.resolve(webhook === undefined ? NOTHING : { owners: [], subjects: [subjectOf('webhook', webhook)] });
};

const ofEnd: Reader = async (db, event) => {
  const [jobId, runId] = [labelOf(event, 'job_id'), labelOf(event, 'run_id')];
  const job = jobId === null ? undefined : await findJob(db, jobId);
  if (job !== undefined) return behindJob(job);
  const run = runId === null ? undefined : await findRun(db, runId);
  return run === undefined ? NOTHING : behindRun(db, run);
};

/** Who has looked for a drift did not make it. */
const ofDrift: Reader = async (db, { name }) => {
  if (name === null) return NOTHING;
  const source = (await findWorkspace(db, name))?.source ?? null;
  const subjects = [subjectOf('workspace', name), ...(source === null ? [] : [subjectOf('source', source)])];
  return { owners: [], subjects };
};

/** The token that asked had the name of the host. */
const ofHost: Reader = async (db, event) => {
  const host = labelOf(event, 'host');
  return host === null ? NOTHING : { owners: await ownersOfTokens(db, host), subjects: [] };
};

/** Whether something fires does not follow from these. */
const ofEnding: Reader = () => Promise.resolve(NOTHING);

/** Events of other sources came with a message to a webhook. */
const READERS: Readonly<Record<Exclude<EventSource, WebhookSource>, Reader>> = {
  host: ofHost,
  'job-outcome': ofEnd,
  check: (_db, { name, netgroup }) => Promise.resolve(name === null ? NOTHING : behindCheck(name, netgroup)),
  drift: ofDrift,
  mute: ofEnding,
  silence: ofEnding,
};

/** Behind a stored event, by its source and what is stored with it; nothing where it is gone. */
export async function behindEvent(db: Db, id: string): Promise<Behind> {
  const event = await findEvent(db, id);
  if (event === undefined) return NOTHING;
  const read = Object.hasOwn(READERS, event.source) ? READERS[event.source as keyof typeof READERS] : ofWebhook;
  return read(db, event);
}
