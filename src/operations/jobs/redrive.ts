import * as z from 'zod';
import { OPERATORS } from '../../domain/access/scope.ts';
import { Failure } from '../../domain/failure.ts';
import type { JobState } from '../../domain/jobs/job.ts';
import { leavesSandbox } from '../../domain/jobs/order.ts';
import { refuseFromAfar } from '../../jobs/from-afar.ts';
import { isHeld } from '../../jobs/held.ts';
import { QUEUE_RULES } from '../../jobs/kinds.ts';
import { newId } from '../../lib/id.ts';
import { fromJson } from '../../lib/json.ts';
import type { Tx } from '../../store/engine/tx.ts';
import { getJob, insertJob } from '../../store/jobs/jobs.ts';
import { passesTag } from '../../store/engine/tags/tags.ts';
import { findRedrive, listRedrivable, listRedriveExclusions, type RedriveSelection } from '../../store/jobs/redrive.ts';
import type { JobRow } from '../../store/schema/schema.ts';
import * as field from '../core/fields.ts';
import { writeOperation, type WriteContext } from '../core/operation.ts';
import { reply, written } from '../core/reply.ts';
import type { ViewItem } from '../../views/views.ts';

type By = Pick<WriteContext, 'caller' | 'because'>;
type Pair = ViewItem<'job.redrive'>;

const REDRIVE_STATES = ['interrupted', 'cancelled'] as const satisfies readonly JobState[];
/** Ids that one call takes. */
const IDS_MAX = 1_000;

const redrive = writeOperation({
  id: 'job.redrive',
  summary: 'Queue interrupted or cancelled jobs again, each once as a new job',
  effect: 'enqueue',
  scopes: OPERATORS,
  http: { method: 'POST', path: '/jobs/redrive', omit: ['state'] },
  cli: {
    verb: 'job redrive',
    positionals: ['ids'],
    confirm: { by: 'yes', question: 'Queue these jobs again? [y/N] ', preview: 'dry_run' },
    examples: ['svc job redrive --dry-run', 'svc job redrive --state interrupted --yes'],
  },
  mcp: { none: 'Running something again is decided by a person.' },
  input: z.strictObject({
    ids: z
      .array(field.id('job'))
      .max(IDS_MAX, { error: `expected at most ${IDS_MAX} ids` })
      .default([])
      .describe('Only these jobs, whether interrupted or cancelled'),
    state: z
      .array(z.enum(REDRIVE_STATES, { error: 'expected interrupted or cancelled' }))
      .optional()
      .describe('Only jobs in this state; repeatable. Default: interrupted'),
    dry_run: z.boolean().default(false).describe('Show the jobs to queue and those left out, but queue nothing'),
  }),
  answers: ['job.redrive'],
  failures: ['not_found', 'conflict'],
  async run({ tx, caller, services, because }, { ids, state, dry_run: dryRun }) {
    // From afar a request says which: only the command line on the machine shows them all before it asks.
    if (ids.length === 0 && caller.credential !== 'local')
      throw new Failure('invalid_argument', 'ids: expected at least one job.');
    // Two redrives at a time would queue the same jobs, and the second one fail on it.
    await tx.dialect.lockKey(tx.db, 'redrive');
    const states = state ?? (ids.length > 0 ? REDRIVE_STATES : (['interrupted'] as const));
    const selection = { states: [...new Set(states)], ids: ids.length > 0 ? [...new Set(ids)] : null };
    const found = await candidates(tx, selection, dryRun || ids.length > 0);
    await requireAll(tx, selection, found);
    const refused = found.find((each) => 'skipped' in each);
    if (!dryRun && ids.length > 0 && refused !== undefined && 'skipped' in refused)
      throw new Failure('conflict', `Job ${refused.id} is not queued again: ${refused.skipped}.`);
    const pairs: Pair[] = [];
    for (const each of found) {
      if ('skipped' in each) pairs.push({ old_job_id: each.id, new_job_id: null, skipped: each.skipped });
      else {
        if (leavesSandbox(each.job.privileged === 1, each.job.spec))
          refuseFromAfar(caller, `Job ${each.id}`, `svc job redrive ${each.id}`);
        pairs.push({
          old_job_id: each.id,
          new_job_id: await newJobOf(tx, each.job, dryRun ? null : { caller, because }),
        });
      }
    }
    tx.afterCommit(() => services.wake());
    const jobs = pairs.filter(({ skipped }) => skipped === undefined).length;
    return written(reply('job.redrive', pairs), null, { state: selection.states, dry_run: dryRun, jobs });
  },
});

type Candidate = { readonly id: string } & ({ readonly job: JobRow } | { readonly skipped: string });

/** The selected jobs, oldest first; those left out too if `all`. */
async function candidates(tx: Tx, selection: RedriveSelection, all: boolean): Promise<Candidate[]> {
  const found: Candidate[] = [];
  for (const job of await listRedrivable(tx.db, selection)) {
    const skipped = await obstacle(tx, job);
    if (skipped === null) found.push({ id: job.id, job });
    else if (all) found.push({ id: job.id, skipped });
  }
  if (all)
    for (const { id, reason } of await listRedriveExclusions(tx.db, selection)) found.push({ id, skipped: reason });
  return found.toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

/** What somebody wrote into the database is not made into an order of this service. */
async function obstacle(tx: Tx, job: JobRow): Promise<string | null> {
  if (!(await passesTag(tx, 'jobs', job))) return 'its order was not made by this service';
  if (await isHeld(tx, job)) return `it needs an approval by now; request it: svc job rerun ${job.id}`;
  return QUEUE_RULES[job.kind].redriveObstacle(tx, job);
}

/** Throws for a named job that does not exist, or is in another state. */
async function requireAll(tx: Tx, { ids, states }: RedriveSelection, found: readonly Candidate[]): Promise<void> {
  const known = new Set(found.map(({ id }) => id));
  for (const id of ids ?? []) {
    if (known.has(id)) continue;
    const { state } = await getJob(tx.db, id);
    throw new Failure('conflict', `Job ${id} is ${state}; expected ${states.join(' or ')}.`);
  }
}

/** The job that repeats `old`: an earlier redrive's, else a new one of `caller`; null where there is neither. */
async function newJobOf(tx: Tx, old: JobRow, by: By | null): Promise<string | null> {
  const made = await findRedrive(tx.db, old.id);
  if (made !== undefined) return made.id;
  return by === null ? null : again(tx, old, by);
}

async function again(tx: Tx, old: JobRow, { caller, because }: By): Promise<string> {
  const id = newId('job', tx.now);
  // The requesters stay with the job: a redrive is no way around a second person's decision.
  const owners = [...new Set([...fromJson(old.owners), caller.owner])];
  await insertJob(tx, {
    id,
    kind: old.kind,
    state: 'queued',
    runbook: old.runbook,
    source: old.source,
    trigger: 'redrive',
    workspace: old.workspace,
    concurrencyKey: old.concurrency_key,
    privileged: old.privileged === 1,
    createdAt: tx.now,
    requestedBy: caller.name,
    owners,
    redriveOf: old.id,
    spec: old.spec,
    timeoutMs: old.timeout_ms,
    node: old.node,
    summary: old.summary,
    because,
  });
  // The ledger marks it as it marked the first one: neither a policy nor a person reviewed it.
  if (QUEUE_RULES[old.kind].isUngated) {
    const { name: principal, owner, via } = caller;
    const detail = { redrive_of: old.id, ungated: true };
    tx.record({ principal, owner, via, operation: 'job.redriven', target: id, detail });
  }
  return id;
}

export const REDRIVE_OPERATIONS = [redrive];
