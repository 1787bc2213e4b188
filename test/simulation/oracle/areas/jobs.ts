import { READERS } from '../../../../src/domain/access/scope.ts';
import type { JobState } from '../../../../src/domain/jobs/job.ts';
import type { Call } from '../calls.ts';
import type { Fact, JobFact } from '../facts.ts';
import { isEnd, type Model, type ModelJob } from '../model.ts';
import { differs, joined, type Moment, OPERATOR, type OperationRule, type OracleArea } from '../rule.ts';

/** Rows of a list without a limit. */
const LISTED = 50;
const AGAIN: readonly JobState[] = ['interrupted', 'cancelled'];

/** What the model expects of a new job. */
interface Expected {
  readonly trigger: string;
  readonly initial: ModelJob['initial'];
  readonly owners: readonly string[];
  readonly redriveOf?: string;
  readonly rerunOf?: string;
}

/** A job that a move made: its id is that of the row, and all else must be as expected. */
export function addJob(moment: Moment, id: string | null, expected: Expected): ModelJob | null {
  const { model, rows, refuse } = moment;
  const row = rows.jobs.get(id ?? '');
  if (row === undefined) return refuse(`made ${id}, which has no row`);
  if (model.jobs.has(row.id)) refuse(`made ${row.id}, which was there before`);
  const { trigger, initial, owners, redriveOf = null, rerunOf = null } = expected;
  const wrong =
    differs(row, { trigger, initial, redriveOf, rerunOf }) ?? differs(row, { owners: joinedIn(row.owners, owners) });
  if (wrong !== null) refuse(`made ${row.id}: ${wrong}`);
  const approval = [...rows.approvals.values()].find(({ job }) => job === row.id);
  const job: ModelJob = {
    id: row.id,
    trigger: row.trigger,
    initial,
    owners: row.owners,
    command: row.command,
    inventory: row.inventory,
    redriveOf,
    rerunOf,
    state: initial,
    approval: null,
    run: null,
    daemon: null,
    isToBeCancelled: false,
    exitCode: null,
    isRefused: false,
    exits: [],
    history: [{ at: model.moves, state: initial }],
  };
  model.jobs.set(job.id, job);
  if ((approval !== undefined) !== (initial === 'awaiting_approval'))
    refuse(`made ${row.id}, which is ${initial}, ${approval === undefined ? 'without' : 'with'} an approval`);
  if (approval === undefined) return job;
  job.approval = approval.id;
  const { id: approvalId, owners: asking, expiresAt } = approval;
  if (joined(asking).join() !== joined(row.owners).join())
    refuse(`made ${approvalId}, whose owners are not those of its job`);
  const times = { expiresAt, askedAt: model.elapsedMs, endedAt: null };
  model.approvals.set(approvalId, { id: approvalId, job: job.id, owners: asking, ...times, state: 'pending' });
  return job;
}

/** The owners of the row where all of these are among them. */
function joinedIn(found: readonly string[], least: readonly string[]): readonly string[] {
  return least.every((owner) => found.includes(owner)) ? found : joined(least);
}

const idOf = (call: Call): string => String(call.raw['id']);

const run: OperationRule = {
  scopes: OPERATOR,
  allows(model, { raw: { inventory, node } }) {
    const isUnknown = !model.inventories.has(String(inventory)) || (node !== undefined && !model.hasNode(node));
    return isUnknown ? ['not_found'] : ['ok'];
  },
  isOf: ({ target }, { raw }, { rows }) => {
    const row = rows.jobs.get(target ?? '');
    return row?.rerunOf === null && JSON.stringify(row.command) === JSON.stringify(raw['command']);
  },
  apply(moment, { target }, { caller: { owner, via } }) {
    addJob(moment, target, { trigger: via, initial: 'queued', owners: [owner] });
    return { job: target ?? '' };
  },
  contradicts: (_model, data, effect) => differs(data, { job_id: effect?.job, state: 'queued' }),
  unreached: {
    conflict: 'needs an inventory whose hosts cannot be reached',
    'approval.pending': 'needs an inventory or a source that asks for approvals',
  },
};

const list: OperationRule = {
  scopes: READERS,
  allows: () => ['ok'],
  contradicts(model, data, _effect, { since, raw }) {
    if (Object.keys(raw).length > 0) return null;
    const listed = new Map((data as { id: string; state: JobState }[]).map(({ id, state }) => [id, state]));
    if ([...listed.keys()].toSorted().toReversed().join() !== [...listed.keys()].join()) return 'it is not in order';
    for (const [id, state] of listed) {
      const job = model.jobs.get(id);
      if (job === undefined) return `it has ${id}, which is not there`;
      if (!statesSince(job, since).includes(state)) return `it has ${id} as ${state}, which it was not at that time`;
    }
    const missing = [...model.jobs.values()].find(
      ({ id, history }) => (history[0]?.at ?? 0) <= since && !listed.has(id),
    );
    return missing === undefined || model.jobs.size > LISTED ? null : `it leaves out ${missing.id}`;
  },
};

/** Those that a job had from then on, and the one that it had then. */
function statesSince({ history }: ModelJob, since: number): JobState[] {
  const first = history.findLastIndex(({ at }) => at <= since);
  return history.slice(Math.max(0, first)).map(({ state }) => state);
}

const cancel: OperationRule = {
  scopes: OPERATOR,
  allows(model, call) {
    const job = model.jobs.get(idOf(call));
    return job === undefined ? ['not_found'] : isEnd(job.state) ? ['conflict'] : ['ok'];
  },
  isOf: ({ target }, call) => target === idOf(call),
  apply({ model, refuse }, { target }) {
    const job = model.jobs.get(target ?? '');
    if (job === undefined) return refuse('of a job that is not there') ?? {};
    if (isEnd(job.state)) refuse(`of ${job.id}, which was ${job.state} already`);
    else model.cancel(job);
    return { job: job.id, state: job.state };
  },
  contradicts: (_model, data, effect) => differs(data, { id: effect?.job, state: effect?.state }),
};

/** Whether a redrive queues it again, or has done so. */
function isRedrivable({ state, trigger, initial }: ModelJob, states: readonly string[]): boolean {
  return states.includes(state) && trigger !== 'workflow' && initial === 'queued';
}

function selectionOf({ raw }: Pick<Call, 'raw'>): {
  readonly ids: readonly string[];
  readonly states: readonly string[];
} {
  const { ids = [], state } = raw as { ids?: readonly string[]; state?: readonly string[] };
  return { ids, states: state ?? (ids.length > 0 ? AGAIN : ['interrupted']) };
}

/** Those that it queues again, or had queued before. */
function selected(model: Model, call: Call): ModelJob[] {
  const { ids, states } = selectionOf(call);
  return [...model.jobs.values()].filter(
    (job) => isRedrivable(job, states) && (ids.length === 0 || ids.includes(job.id)),
  );
}

const redrive: OperationRule = {
  scopes: OPERATOR,
  allows(model, call) {
    const { ids, states } = selectionOf(call);
    if (ids.length === 0 && call.caller.credential !== 'local') return ['invalid_argument'];
    const jobs = ids.map((id) => model.jobs.get(id));
    const codes = [
      ...(jobs.includes(undefined) ? ['not_found'] : []),
      ...(jobs.some((job) => job !== undefined && !isRedrivable(job, states)) ? ['conflict'] : []),
    ];
    return codes.length === 0 ? ['ok'] : codes;
  },
  isOf({ detail }, call, { model, rows }) {
    const { states } = selectionOf(call);
    if (joined(detail['state'] as string[]).join() !== joined(states).join()) return false;
    const redriven = new Set([...rows.jobs.values()].map(({ redriveOf }) => redriveOf));
    const old = selected(model, call);
    return old.length === detail['jobs'] && old.every(({ id }) => redriven.has(id));
  },
  apply(moment, _fact, call) {
    const { model, rows } = moment;
    const made = new Map<string, JobFact>();
    for (const row of rows.jobs.values()) if (row.redriveOf !== null) made.set(row.redriveOf, row);
    const pairs = selected(model, call).map(({ id, owners }) => {
      const before = model.redriven.get(id);
      if (before !== undefined) return [id, before] as const;
      const row = made.get(id);
      const expected = { trigger: 'redrive', initial: 'queued', redriveOf: id } as const;
      addJob(moment, row?.id ?? null, { ...expected, owners: joined(owners, [call.caller.owner]) });
      model.redriven.set(id, row?.id ?? '');
      return [id, row?.id ?? ''] as const;
    });
    return { pairs: pairs.toSorted(([a], [b]) => (a < b ? -1 : 1)) };
  },
  contradicts(_model, data, effect) {
    const pairs = (data as { old_job_id: string; new_job_id: string }[]).map((each) => [
      each.old_job_id,
      each.new_job_id,
    ]);
    return differs({ pairs }, { pairs: effect?.pairs });
  },
};

const rerun: OperationRule = {
  scopes: OPERATOR,
  allows(model, call) {
    const job = model.jobs.get(idOf(call));
    if (job === undefined) return ['not_found'];
    return !isEnd(job.state) || job.trigger === 'workflow' ? ['conflict'] : ['ok'];
  },
  isOf: ({ detail }, call) => detail['rerun_of'] === idOf(call),
  apply(moment, { target }, call) {
    const { model, refuse } = moment;
    const old = model.jobs.get(idOf(call));
    if (old === undefined) return refuse(`of ${idOf(call)}, which is not there`) ?? {};
    if (!isEnd(old.state) || old.trigger === 'workflow') refuse(`of ${old.id}, which is ${old.state}`);
    const { owner, via } = call.caller;
    const expected = { trigger: via, initial: old.initial, rerunOf: old.id };
    addJob(moment, target, { ...expected, owners: joined(old.owners, [owner]) });
    return { job: target ?? '', state: old.initial };
  },
  contradicts: (_model, data, effect) => differs(data, { job_id: effect?.job, state: effect?.state }),
  unreached: { not_implemented: 'needs a job of a source with Git hooks' },
};

/** A forced restart cancels what runs. */
function forced({ model, refuse }: Moment, { target, principal, detail }: Fact): void {
  if (!principal.startsWith('daemon:')) return;
  const job = model.jobs.get(target ?? '');
  if (detail['by'] !== 'maintenance.restart') return void refuse(`of ${target} by the service, without a restart`);
  if (job?.state !== 'running') return void refuse(`of ${target}, which is ${job?.state ?? 'not there'}`);
  model.cancel(job);
}

function start({ model, refuse }: Moment, { target, principal }: Fact): void {
  const job = model.jobs.get(target ?? '');
  if (job === undefined) return void refuse(`of ${target}, which is not there`);
  if (job.state !== 'queued') refuse(`of ${job.id}, which was ${job.state}`);
  if (model.isCordoned) refuse(`of ${job.id}, while the service was cordoned`);
  job.daemon = principal.replace('daemon:', '');
  model.move(job, 'running');
}

/** Nothing of it runs: the inventory is not there any more, or is not the one that was approved. */
function refused({ model, refuse }: Moment, { target, principal, detail }: Fact): void {
  const job = model.jobs.get(target ?? '');
  if (job === undefined) return void refuse(`of ${target}, which is not there`);
  if (job.state !== 'running' || principal !== `daemon:${job.daemon}`)
    refuse(`of ${job.id} by ${principal}, which does not run it`);
  const isChanged = (model.inventoryMoves.get(job.inventory) ?? 0) > (job.history[0]?.at ?? 0);
  const codes = job.approval === null ? ['not_found'] : ['not_found', 'conflict'];
  if (!isChanged || !codes.includes(String(detail['code'])))
    refuse(`of ${job.id} with ${String(detail['code'])}: its inventory is ${isChanged ? 'another one' : 'as it was'}`);
  if (job.exits.length > 0) refuse(`of ${job.id}, whose tool ran`);
  job.isRefused = true;
}

function end({ model, refuse, isDead }: Moment, { target, principal, detail }: Fact): void {
  const job = model.jobs.get(target ?? '');
  const { state, exit_code: exitCode, by } = detail as { state: JobState; exit_code: number | null; by: string };
  if (job === undefined) return void refuse(`of ${target}, which is not there`);
  if (job.state !== 'running') refuse(`of ${job.id}, which was ${job.state}`);
  if (principal !== `daemon:${job.daemon}`) refuse(`of ${job.id} by ${principal}, which does not run it`);
  const isSeen = job.exits.some((exit) => exit.exitCode === exitCode);
  const isWithoutRun = job.isRefused && exitCode === null && job.exits.length === 0;
  if (state === 'succeeded' && (exitCode !== 0 || !isSeen)) refuse(`of ${job.id} as succeeded: its tool did not`);
  if (state === 'failed' && (exitCode === 0 || !isSeen) && !isWithoutRun)
    refuse(`of ${job.id} as failed with ${exitCode}: its tool did not`);
  if (state === 'cancelled' && !job.isToBeCancelled) refuse(`of ${job.id} as cancelled, which no one cancelled`);
  if (state === 'interrupted' && by === 'rescue' && isDead(job.daemon ?? '') === false)
    refuse(`of ${job.id} as interrupted: its daemon lives`);
  job.exitCode = exitCode;
  model.move(job, state);
}

export const JOBS: OracleArea = {
  operations: {
    'command.run': run,
    'job.list': list,
    'job.cancel': cancel,
    'job.redrive': redrive,
    'job.rerun': rerun,
  },
  moves: {
    'job.cancel': forced,
    'job.start': start,
    'job.refuse': refused,
    'job.end': end,
    'inventory.add'({ model }, { target }) {
      model.inventories.add(target ?? '');
      model.inventoryMoves.set(target ?? '', model.moves);
    },
    'inventory.remove'({ model }, { target }) {
      model.inventories.delete(target ?? '');
      model.inventoryMoves.set(target ?? '', model.moves);
    },
  },
};
