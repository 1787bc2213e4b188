import type { JobState } from '../../../../src/domain/jobs/job.ts';
import type { Fact } from '../facts.ts';
import { addJob } from './jobs.ts';
import { isEnd, isGood, type Model, type ModelRun, type ModelStep } from '../model.ts';
import { differs, joined, type Moment, OPERATOR, type OperationRule, type OracleArea } from '../rule.ts';

/** The worst first. */
const VERDICTS: readonly JobState[] = ['interrupted', 'failed', 'cancelled', 'degraded'];

/** A run as its row says it is, which names what it is made of. */
function addRun({ model, rows, refuse }: Moment, id: string): ModelRun | null {
  const row = rows.runs.get(id);
  if (row === undefined) return refuse(`of ${id}, which is not there`);
  const { workflow, owners, definition, resumes } = row;
  const steps = definition.steps.map(({ name, needs, when, approval }): [string, ModelStep] => {
    const taken = row.steps.find((each) => each.name === name && each.isTaken);
    const isGated = approval === 'required';
    return [name, { name, needs, hasCondition: when !== null, isGated, job: taken?.job ?? null }];
  });
  const run: ModelRun = {
    id,
    workflow,
    owners,
    isGated: definition.gate !== undefined,
    resumes: resumes !== null,
    steps: new Map(steps),
    state: 'running',
    isToBeCancelled: false,
    isAsked: false,
  };
  model.runs.set(id, run);
  return run;
}

/** No further step starts, and what waits or runs is cancelled. */
function cancelRun(model: Model, run: ModelRun): void {
  run.isToBeCancelled = true;
  for (const { job: id } of run.steps.values()) {
    const job = model.jobs.get(id ?? '');
    if (job !== undefined && !isEnd(job.state)) model.cancel(job);
  }
}

/** Whether people said no to a step of it. */
function isRefused(model: Model, run: ModelRun): boolean {
  return approvalsOf(model, run).some((state) => state === 'rejected' || state === 'expired');
}

function approvalsOf(model: Model, { steps }: ModelRun): readonly (string | undefined)[] {
  return [...steps.values()].map(({ job }) => model.approvals.get(model.jobs.get(job ?? '')?.approval ?? '')?.state);
}

const run: OperationRule = {
  scopes: OPERATOR,
  allows(model, { raw: { name, from = [] } }) {
    if (!model.workflows.has(String(name))) return ['not_found'];
    return (from as readonly string[]).length === 0 ? ['ok'] : ['ok', 'conflict', 'invalid_argument'];
  },
  isOf: ({ target, detail }, { raw }) => target === raw['name'] && 'resumes' in detail === 'from' in raw,
  apply(moment, { detail }, { caller }) {
    const id = String(detail['run_id']);
    const made = moment.model.runs.get(id) ?? addRun(moment, id);
    if (made === null) return {};
    if (!made.owners.includes(caller.owner)) moment.refuse(`made ${id} without ${caller.owner} among its owners`);
    made.isAsked = true;
    return { run: id };
  },
  contradicts: (_model, data, effect) => differs(data, { run_id: effect?.run }),
  unreached: {
    forbidden: 'needs a first step that its author may not run',
    concurrency_held: 'needs a first step with a workspace',
    stale_plan: 'needs a first step with a saved plan',
  },
};

const cancel: OperationRule = {
  scopes: OPERATOR,
  allows(model, { raw }) {
    const found = model.runs.get(String(raw['run']));
    return found === undefined ? ['not_found'] : found.state === 'running' ? ['ok'] : ['conflict'];
  },
  isOf: ({ target }, { raw }) => target === raw['run'],
  apply({ model, refuse }, { target }) {
    const found = model.runs.get(target ?? '');
    if (found === undefined) return refuse(`of ${target}, which is not there`) ?? {};
    if (found.state !== 'running') refuse(`of ${found.id}, which was ${found.state} already`);
    cancelRun(model, found);
    return { run: found.id };
  },
  contradicts: (_model, data, effect) => differs(data, { run_id: effect?.run }),
};

function step(moment: Moment, { target, detail }: Fact): void {
  const { model, first, refuse } = moment;
  const id = String(detail['run_id']);
  // The write of a start is recorded after the first steps.
  if (!model.runs.has(id)) first('workflow.run', (fact) => fact.detail['run_id'] === id);
  const of = model.runs.get(id) ?? addRun(moment, id);
  const found = of?.steps.get(String(detail['step']));
  if (of === null || found === undefined) return;
  if (of.state !== 'running') refuse(`of ${id}, which was ${of.state}`);
  if (of.isToBeCancelled || isRefused(model, of)) refuse(`of ${id}, after a no or a cancel`);
  if (found.job !== null) refuse(`${found.name} of ${id}, which had ${found.job}`);
  const unmet = found.needs.find((need) => !isGood(stateOf(model, of, need)));
  if (unmet !== undefined && !found.hasCondition && !of.resumes)
    refuse(`${found.name} of ${id}, whose step ${unmet} is ${stateOf(model, of, unmet)}`);
  const isAsking = found.isGated || (of.isGated && !approvalsOf(model, of).includes('approved'));
  const initial = isAsking ? 'awaiting_approval' : 'queued';
  const job = addJob(moment, target, { trigger: 'workflow', initial, owners: joined(of.owners) });
  found.job = target;
  if (job !== null) job.run = id;
}

function stateOf(model: Model, { steps }: ModelRun, name: string): JobState | null {
  const found = steps.get(name);
  return found === undefined ? null : model.stateOf(found);
}

function refuseRun({ model, refuse }: Moment, { target }: Fact): void {
  const found = model.runs.get(target ?? '');
  if (found === undefined) return void refuse(`of ${target}, which is not there`);
  if (!isRefused(model, found)) refuse(`of ${found.id}, whose steps got no no`);
  cancelRun(model, found);
}

function end({ model, rows, first, refuse }: Moment, { target, detail }: Fact): void {
  first('workflow.cancel', (fact) => fact.target === target);
  const found = model.runs.get(target ?? '');
  const row = rows.runs.get(target ?? '');
  if (found === undefined || row === undefined) return void refuse(`of ${target}, which is not there`);
  if (found.state !== 'running') refuse(`of ${found.id}, which was ${found.state}`);
  const open = [...found.steps.values()].find(
    ({ job }) => job !== null && !isEnd(model.jobs.get(job)?.state ?? 'running'),
  );
  if (open !== undefined) refuse(`of ${found.id}, whose step ${open.name} is not over`);
  // What became of a step without a job is in its row.
  const ends = row.steps.map((each) => model.jobs.get(found.steps.get(each.name)?.job ?? '')?.state ?? each.state);
  const verdict = VERDICTS.find((state) => ends.includes(state)) ?? 'succeeded';
  if (detail['state'] !== verdict)
    refuse(`of ${found.id} as ${String(detail['state'])}, where its steps make ${verdict}`);
  found.state = verdict;
}

export const WORKFLOWS: OracleArea = {
  operations: { 'workflow.run': run, 'workflow.cancel': cancel },
  moves: {
    'workflow.add': ({ model }, { target }) => void model.workflows.add(target ?? ''),
    'workflow.remove': ({ model }, { target }) => void model.workflows.delete(target ?? ''),
    'workflow.step': step,
    'workflow.refuse': refuseRun,
    'workflow.end': end,
  },
};
