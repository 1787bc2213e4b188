import { Failure } from '../../domain/failure.ts';
import { type EventFacts, NO_EVENT } from '../../domain/events/event.ts';
import { ActionRefused } from '../../domain/actions/action-refused.ts';
import { compileAction } from '../../domain/rules/fill.ts';
import type { StepAction } from '../../domain/rules/step-actions.ts';
import {
  type RunDefinition,
  type Step,
  type StepEnd,
  type StepState,
  STEPS_MAX,
} from '../../domain/workflows/workflow.ts';
import { newId } from '../../lib/id.ts';
import { fromJson, toJson } from '../../lib/json.ts';
import { checkTag } from '../../store/engine/tags/tags.ts';
import type { WorkflowRow, WorkflowRunRow } from '../../store/schema/schema.ts';
import { deleteRun, insertRun } from '../../store/workflows/runs.ts';
import type { Asker, Gate, Queued, Queueing } from '../queue.ts';
import { settleRun, startNext, type WorkflowDeps } from './advance.ts';

/** What a run takes from an earlier one: the ends of the steps that it does not run, with their jobs. */
export interface Resume {
  readonly run: string;
  readonly steps: ReadonlyMap<string, { readonly state: StepEnd; readonly jobId: string | null }>;
}

interface StartedRun {
  readonly run: WorkflowRunRow;
  /** The first job. */
  readonly first: Queued;
}

/**
 * Starts a run of a workflow and queues its first steps; with a gate, each job that the start queues waits for an
 * approval. The run keeps the workflow as it is now, with the values of the event filled in. Throws a Failure, and has
 * written nothing, where no job could be queued.
 */
export async function startRun(
  { tx, deps, asker, gate }: Queueing & { readonly deps: WorkflowDeps },
  workflow: WorkflowRow,
  resume: Resume | null = null,
): Promise<StartedRun> {
  await checkTag(tx, 'workflows', workflow);
  const steps = await filled(fromJson(workflow.definition).steps, asker.event);
  const { origin, alert = null, rule = null, matchedAt = null, schedule = null } = asker.provenance ?? MANUAL;
  const taken = resume?.steps;
  const run = await insertRun(
    tx,
    {
      id: newId('wfr', tx.now),
      workflow: workflow.name,
      definition: toJson({ steps, ...(gate === null ? {} : { gate: keptOf(gate) }) }),
      trigger: asker.trigger,
      origin,
      event_id: alert,
      rule,
      matched_at: matchedAt,
      schedule,
      requested_by: asker.requestedBy,
      // The author decides what the steps do, so that the author cannot approve them either (T28).
      owners: toJson([...new Set([...asker.owners, ...fromJson(workflow.owners)])]),
      resumes: resume?.run ?? null,
      because: asker.because ?? null,
    },
    steps.map(({ name }) => {
      const end = taken?.get(name);
      if (end === undefined) return { name, state: 'waiting', job_id: null, taken_from: null, reason: null };
      return { name, state: end.state, job_id: end.jobId, taken_from: resume?.run ?? null, reason: null };
    }),
  );
  const states = new Map(steps.map(({ name }): [string, StepState] => [name, taken?.get(name)?.state ?? 'waiting']));
  const open = { tx, deps, run, states };
  const { queued, refusals } = await startNext(open, steps, gate, STEPS_MAX);
  const [first] = queued;
  if (first === undefined) {
    await deleteRun(tx, run.id);
    throw refusals[0] ?? new Failure('conflict', `No step of the workflow ${workflow.name} would run.`);
  }
  await settleRun(open, false);
  return { run, first };
}

/** The rest of it follows from the columns of the run. */
function keptOf({ ttlMs, oneTap }: Gate): NonNullable<RunDefinition['gate']> {
  return { ttlMs, ...(oneTap === undefined ? {} : { oneTap }) };
}

const MANUAL: NonNullable<Asker['provenance']> = { origin: 'manual' };

/** The steps with the values of the event. Throws invalid_argument that names the step and the field. */
async function filled(
  steps: readonly Step<StepAction>[],
  facts: EventFacts | undefined,
): Promise<readonly Step<StepAction>[]> {
  const done: Step<StepAction>[] = [];
  for (const step of steps) done.push(hasValues(step.action) ? { ...step, action: await fill(step, facts) } : step);
  return done;
}

function hasValues(action: StepAction): boolean {
  return JSON.stringify(action).includes('${');
}

async function fill({ name, action }: Step<StepAction>, facts: EventFacts | undefined): Promise<StepAction> {
  try {
    const result = (await compileAction(action)).fill(facts ?? NO_EVENT);
    if ('action' in result) return result.action;
    const why = facts === undefined ? '; no event started this run, so that every field of the event is empty' : '';
    throw new Failure('invalid_argument', `steps.${name}.${result.error}${why}.`);
  } catch (thrown) {
    if (thrown instanceof ActionRefused) throw new Failure('invalid_argument', `steps.${name}.${thrown.message}.`);
    throw thrown;
  }
}
