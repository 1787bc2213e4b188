import * as z from 'zod';
import { Failure } from '../../domain/failure.ts';
import { JOB_STATES } from '../../domain/jobs/job.ts';
import { OPERATORS, PLAN_READERS, READERS } from '../../domain/access/scope.ts';
import { cancelJob } from '../../jobs/cancel.ts';
import { lastSeq } from '../../store/jobs/chunks.ts';
import { passesTag } from '../../store/engine/tags/tags.ts';
import { getJob, listJobs, type JobFilter } from '../../store/jobs/jobs.ts';
import type { Db } from '../../store/schema/schema.ts';
import { listInBatches, replyList } from '../core/batches.ts';
import * as field from '../core/fields.ts';
import { followed } from './following.ts';
import { EVENTS_MAX, followJob, readEventBatches } from './job-events.ts';
import { jobDetail, jobView } from './job-view.ts';
import { orderOf } from './order.ts';
import { JOB_STREAM } from '../../views/jobs/views.ts';
import { requireNode } from '../maintenance/maintenance.ts';
import { readOperation, writeOperation } from '../core/operation.ts';
import { reply, replyBatches, replyStream, written } from '../core/reply.ts';

const since = z.int({ error: 'expected a sequence number' }).nonnegative({ error: 'expected 0 or more' }).default(0);

const list = readOperation({
  id: 'job.list',
  summary: 'List jobs, newest first',
  keep: true,
  scopes: READERS,
  http: { method: 'GET', path: '/jobs' },
  cli: { verb: 'job list', item: 'job', examples: ['svc job list', 'svc job list --state failed --limit 10'] },
  mcp: { tool: 'job_list' },
  input: z.strictObject({
    state: field.oneOf(JOB_STATES).optional().describe('Only jobs in this state'),
    runbook: z.string().max(1_000).optional().describe('Only jobs with exactly this runbook'),
    concurrency_key: field.as('KEY', z.string().max(1_000)).optional().describe('Only jobs with this concurrency key'),
    limit: field.limit(50).describe('Maximum number of rows; 0 is all'),
  }),
  answers: ['job.list'],
  async run({ store }, { state, runbook, concurrency_key: concurrencyKey, limit }) {
    return replyList('job.list', jobs(store.db, { state, runbook, concurrencyKey }, limit));
  },
});

function jobs(db: Db, filter: JobFilter, limit = 0) {
  return listInBatches((before, rows) => listJobs(db, { ...filter, before }, rows), jobView, limit);
}

const get = readOperation({
  id: 'job.get',
  summary: 'Show one job',
  scopes: READERS,
  http: { method: 'GET', path: '/jobs/{id}' },
  cli: {
    verb: 'job get',
    first: 'job order',
    positionals: ['id'],
    examples: ['svc job get job_01m7yd4zyke00anp2z332d2j5p'],
    aliases: [
      {
        verb: 'job wait',
        summary: 'Wait until a job ends; exit with its exit code',
        until: 'ended',
        positionals: ['id'],
        examples: [
          'svc job wait job_01m7yd4zyke00anp2z332d2j5p',
          'svc job wait job_01m7yd4zyke00anp2z332d2j5p --timeout 10m',
        ],
      },
    ],
  },
  mcp: { tool: 'job_get' },
  input: z.strictObject({ id: field.id('job') }),
  answers: ['job.get'],
  failures: ['not_found'],
  async run({ store, services }, { id }) {
    return reply('job.get', await jobDetail(store.db, await getJob(store.db, id), services.clock.now()));
  },
});

const order = readOperation({
  id: 'job.order',
  summary: 'Show what a job ordered: what runs, on which hosts, because of which alert',
  scopes: PLAN_READERS,
  http: { method: 'GET', path: '/jobs/{id}/order' },
  cli: { verb: 'job order', positionals: ['id'], examples: ['svc job order job_01m7yd4zyke00anp2z332d2j5p'] },
  mcp: { none: 'Its words are for the person who decides or looks back.' },
  input: z.strictObject({ id: field.id('job') }),
  answers: ['order'],
  failures: ['not_found', 'conflict'],
  audits: ({ id }) => id,
  async run(context, { id }) {
    const job = await getJob(context.store.db, id);
    if (!(await passesTag(context.store, 'jobs', job)))
      throw new Failure('conflict', `Job ${id} was changed after it was written; run svc doctor.`);
    return reply('order', await orderOf(context, job));
  },
});

const events = readOperation({
  id: 'job.events',
  summary: `Show the events of a job, at most ${EVENTS_MAX} per request`,
  scopes: READERS,
  http: { method: 'GET', path: '/jobs/{id}/events' },
  cli: {
    verb: 'job events',
    positionals: ['id'],
    examples: ['svc job events job_01m7yd4zyke00anp2z332d2j5p --since 40'],
  },
  mcp: { tool: 'job_events' },
  input: z.strictObject({
    id: field.id('job'),
    since: since.describe('Only events after this sequence number'),
    last: z
      .int({ error: 'expected a whole number' })
      .min(1, { error: 'expected 1 or more' })
      .max(EVENTS_MAX, { error: `expected at most ${EVENTS_MAX}` })
      .optional()
      .describe('Only this number of events, the newest ones'),
  }),
  answers: ['job.events'],
  failures: ['not_found'],
  async run({ store: { db } }, { id, since, last }) {
    const job = await getJob(db, id);
    // Sequence numbers have no gaps.
    const from = last === undefined ? since : Math.max(since, (await lastSeq(db, id)) - last);
    return replyBatches('job.events', readEventBatches(db, job, from, EVENTS_MAX));
  },
});

const tail = readOperation({
  id: 'job.tail',
  summary: 'Follow the events of a job until it ends',
  effect: 'stream',
  scopes: READERS,
  http: { method: 'GET', path: '/jobs/{id}/stream' },
  cli: {
    verb: 'job tail',
    follow: 'job',
    omit: ['followed'],
    positionals: ['id'],
    examples: ['svc job tail job_01m7yd4zyke00anp2z332d2j5p'],
  },
  mcp: { none: 'A tool call answers once: use job_events with its cursor.' },
  input: z.strictObject({
    id: field.id('job'),
    since: since.describe('Start after this sequence number'),
    followed: field.followed.describe(
      'The caller ordered the job: a failure notifies quietly while the stream is open',
    ),
  }),
  events: JOB_STREAM,
  failures: ['not_found', 'streams_over_cap'],
  async run({ store, services, caller }, { id, since, followed: isFollowed }) {
    const job = await getJob(store.db, id);
    if (!isFollowed) return replyStream((signal) => followJob(store.db, services, id, since, signal));
    // Who did not order it must not make its failure quiet for others.
    if (job.requested_by !== caller.name)
      throw new Failure('forbidden', `followed: job ${id} was ordered by ${job.requested_by}.`);
    const at = { store, clock: services.clock };
    return replyStream((signal) => followed(at, id, followJob(store.db, services, id, since, signal)));
  },
});

const cancel = writeOperation({
  id: 'job.cancel',
  causes: { of: 'job', by: 'cancelJob' },
  summary: 'Cancel a job that has not ended',
  scopes: OPERATORS,
  http: { method: 'POST', path: '/jobs/{id}/cancel' },
  cli: {
    verb: 'job cancel',
    cancels: true,
    positionals: ['id'],
    examples: ['svc job cancel job_01m7yd4zyke00anp2z332d2j5p'],
  },
  mcp: { none: 'An agent that could end the jobs of others needs a person in between.' },
  input: z.strictObject({ id: field.id('job') }),
  answers: ['job.get'],
  failures: ['not_found', 'conflict'],
  async run({ tx, services, caller }, { id }) {
    const by = { by: caller.name, via: caller.via, owner: caller.owner, reason: 'the job was cancelled' };
    if (!(await cancelJob(tx, id, by, (each) => services.announceJob(each))))
      throw new Failure('conflict', `Job ${id} is ${(await getJob(tx.db, id)).state} already.`);
    tx.afterCommit(() => services.wake());
    return written(reply('job.get', await jobDetail(tx.db, await getJob(tx.db, id), tx.now)), id);
  },
});

const interrupted = readOperation({
  id: 'maintenance.interrupted',
  summary: 'List interrupted jobs, newest first',
  keep: true,
  scopes: READERS,
  http: { method: 'GET', path: '/maintenance/interrupted' },
  cli: { verb: 'maintenance interrupted', examples: ['svc maintenance interrupted'] },
  mcp: { none: 'job_list with the state interrupted answers the same.' },
  input: z.strictObject({ node: field.name.optional().describe('Only jobs of this daemon') }),
  answers: ['job.list'],
  failures: ['not_found', 'unavailable'],
  async run({ store, services }, { node }) {
    await requireNode(services, store.db, node);
    return replyList('job.list', jobs(store.db, { state: 'interrupted', node }));
  },
});

export const JOB_OPERATIONS = [list, get, order, events, tail, cancel, interrupted];
