import * as z from 'zod';
import { DECISIONS, REASON_MAX } from '../../domain/approvals/approval.ts';
import type { Caller } from '../../domain/access/caller.ts';
import { Failure } from '../../domain/failure.ts';
import { CONSOLE_DECIDERS, DECIDERS, PLAN_READERS, READERS } from '../../domain/access/scope.ts';
import { pause, rfc3339 } from '../../lib/clock.ts';
import { fromJson } from '../../lib/json.ts';
import { missingScopes } from '../../jobs/deciders.ts';
import { stillHolds } from '../../jobs/standing.ts';
import { orderOf } from '../jobs/order.ts';
import { getJob } from '../../store/jobs/jobs.ts';
import { findApproval, getApproval, getListedApproval, listApprovals } from '../../store/approvals/approvals.ts';
import { passesTag } from '../../store/engine/tags/tags.ts';
import type { ApprovalRow } from '../../store/schema/schema.ts';
import { findGate } from '../../store/gate/gate.ts';
import type { Tx } from '../../store/engine/tx.ts';
import type { Store } from '../../store/store.ts';
import { isAsking } from './approval-links.ts';
import { approvalDetail, approvalView } from './approval-view.ts';
import { shownApproval, type ShownApproval } from './checked-request.ts';
import { decide, recordRefusal, refuseAsker } from './decide.ts';
import { listInBatches, replyList } from '../core/batches.ts';
import * as field from '../core/fields.ts';
import { readOperation, writeOperation, type Context, type Operation } from '../core/operation.ts';
import { lookAtFiles, NOT_LOOKED, readerOf } from './pinned-files.ts';
import { planViewJson } from './plan-view.ts';
import { reply, replyEncoded, replyStream, written, type StreamEvent } from '../core/reply.ts';
import { VIEWS, type Projected } from '../../views/views.ts';

/** How often the pending approvals are looked at for a follower, in milliseconds: the contract's number. */
const LOOK_MS = 2_000;
/** Streams of one process, which may all be of one identity: the contract caps only the process. */
const STREAMS = 8;

const id = field.id('apr');

const list = readOperation({
  id: 'approval.list',
  summary: 'List pending approvals, newest first',
  keep: true,
  scopes: READERS,
  http: { method: 'GET', path: '/approvals' },
  cli: { verb: 'approval list', examples: ['svc approval list', 'svc approval list --all'] },
  mcp: { tool: 'approval_list' },
  input: z.strictObject({
    all: field.flag.describe('Include decided and expired approvals'),
    limit: field.limit(0).describe('Maximum number of rows; 0 is all'),
  }),
  answers: ['approval.list'],
  run: ({ store }, { all, limit }) => replyList('approval.list', approvals(store, all, limit)),
});

function approvals(store: Store, all: boolean, limit = 0) {
  const read = async (before: string | undefined, count: number): Promise<ShownApproval[]> => {
    const rows = await listApprovals(store.db, { all, before }, count);
    return Promise.all(rows.map((row) => shownApproval(store, row)));
  };
  return listInBatches(read, approvalView, limit);
}

const get = readOperation({
  id: 'approval.get',
  summary: 'Show one approval, its requester and whether its plan is current',
  scopes: READERS,
  http: { method: 'GET', path: '/approvals/{id}' },
  cli: {
    verb: 'approval get',
    first: 'approval order',
    positionals: ['id'],
    examples: ['svc approval get apr_01m7yd4zyke00anp2z332d2j5p'],
  },
  mcp: { tool: 'approval_get' },
  input: z.strictObject({ id }),
  answers: ['approval.get'],
  failures: ['not_found'],
  async run({ store, services: { clock } }, { id }) {
    const row = await shownApproval(store, await getListedApproval(store.db, id));
    // Not for a settled approval: the plan itself changes the state when it is applied.
    const check = row.state === 'pending' ? await stillHolds(store, row) : null;
    // Whose row was changed in the database is not known.
    const isOpen = row.state === 'pending' && row.fault === null;
    const missing = isOpen ? await missingScopes(store, fromJson(row.owners), clock.now()) : [];
    return reply('approval.get', approvalDetail(row, check, missing));
  },
});

const plan = readOperation({
  id: 'approval.plan',
  summary: 'Show the plan to be approved: destroys first, secrets redacted',
  scopes: PLAN_READERS,
  http: { method: 'GET', path: '/approvals/{id}/plan' },
  cli: { verb: 'approval plan', positionals: ['id'], examples: ['svc approval plan apr_01m7yd4zyke00anp2z332d2j5p'] },
  mcp: { tool: 'approval_plan' },
  input: z.strictObject({ id }),
  answers: ['approval.plan'],
  failures: ['not_found', 'conflict'],
  async run(context, { id }) {
    const approval = await getApproval(context.store.db, id);
    // In any state: one that is changed for the moment of the look is not pending then.
    if (!(await passesTag(context.store, 'approvals', approval)))
      throw new Failure(
        'conflict',
        `Approval ${id} was changed after it was written. Do not approve it; run svc doctor.`,
      );
    const { plan_artifact_id: artifactId } = approval;
    if (artifactId === null) throw new Failure('not_found', `Approval ${id} has no saved plan.`);
    const json = await planViewJson(context, artifactId);
    if (json === null) throw new Failure('not_found', `The plan ${artifactId} of approval ${id} is not kept any more.`);
    // Projected when the plan was made. It is not parsed again: with 5,000 resources that would take most of the time.
    return replyEncoded('approval.plan', json);
  },
});

const order = readOperation({
  id: 'approval.order',
  summary: 'Show what is to be approved: what runs, on which hosts, because of which alert',
  scopes: PLAN_READERS,
  http: { method: 'GET', path: '/approvals/{id}/order' },
  cli: { verb: 'approval order', positionals: ['id'], examples: ['svc approval order apr_01m7yd4zyke00anp2z332d2j5p'] },
  mcp: { none: 'Its words are for the person who decides.' },
  input: z.strictObject({ id }),
  answers: ['order'],
  failures: ['not_found', 'conflict'],
  audits: ({ id }) => id,
  async run(context, { id }) {
    const approval = await getListedApproval(context.store.db, id);
    const { fault } = await shownApproval(context.store, approval);
    if (fault !== null) throw new Failure('conflict', `${fault} Do not approve it; run svc doctor.`);
    return reply('order', await orderOf(context, await getJob(context.store.db, approval.job_id)));
  },
});

const watch = readOperation({
  id: 'approval.watch',
  summary: 'Follow pending approvals',
  effect: 'stream',
  streamsPerOwner: STREAMS,
  scopes: READERS,
  http: { method: 'GET', path: '/approvals/stream' },
  cli: {
    verb: 'approval watch',
    follow: 'approvals',
    examples: ['svc approval watch', 'svc approval watch --output json'],
  },
  mcp: { none: 'A tool call answers once: use approval_list.' },
  events: { approvals: VIEWS['approval.list'] },
  failures: ['streams_over_cap'],
  run: (context) => Promise.resolve(replyStream((signal) => followPending(context, signal))),
});

/** What is pending, at once and then after each change of what is shown of it. */
async function* followPending({ store, services }: Context, signal: AbortSignal): AsyncGenerator<StreamEvent> {
  let shown: string | undefined;
  let seen: string | null = null;
  while (!signal.aborted) {
    // Asked before the rows are read: what is committed in between is seen at the next look.
    const version = store.version();
    if (shown === undefined || version === null || version !== seen) {
      seen = version;
      const data = await allPending(store);
      const text = JSON.stringify(data);
      if (text !== shown) {
        shown = text;
        yield { event: 'approvals', data };
      }
    }
    if (!(await pause(services.clock, LOOK_MS, signal))) return;
  }
}

async function allPending(store: Store): Promise<Projected<'approval.list'>> {
  const batches = await Array.fromAsync(approvals(store, false));
  return VIEWS['approval.list'].parse(batches.flat());
}

const decision = writeOperation({
  id: 'approval.decision',
  causes: { of: 'job', by: 'decide' },
  summary: 'Approve or reject a request of another person',
  scopes: DECIDERS,
  sessionScopes: CONSOLE_DECIDERS,
  http: { method: 'POST', path: '/approvals/{id}/decision' },
  cli: {
    none: 'Its verbs say which: svc approval approve, svc approval reject.',
    aliases: [
      {
        verb: 'approval approve',
        summary: 'Approve a job that another person requested',
        preset: { decision: 'approve' },
        confirm: { by: 'plan' },
        positionals: ['id'],
        examples: [
          'svc approval approve apr_01m7yd4zyke00anp2z332d2j5p',
          'svc approval approve apr_01m7yd4zyke00anp2z332d2j5p --reason "read it twice"',
        ],
      },
      {
        verb: 'approval reject',
        summary: 'Reject and cancel a job that another person requested',
        preset: { decision: 'reject' },
        positionals: ['id'],
        examples: ['svc approval reject apr_01m7yd4zyke00anp2z332d2j5p --reason "not on a Friday"'],
      },
    ],
  },
  mcp: {
    tools: [
      {
        tool: 'approval_approve',
        summary: 'Approve a job that another person requested',
        preset: { decision: 'approve' },
      },
      {
        tool: 'approval_reject',
        summary: 'Reject and cancel a job that another person requested',
        preset: { decision: 'reject' },
      },
    ],
  },
  input: z.strictObject({
    id,
    decision: field.oneOf(DECISIONS).describe('The decision'),
    reason: field.text(REASON_MAX).optional().describe('Reason, shown with the decision'),
  }),
  answers: ['approval.decision'],
  failures: ['not_found', 'forbidden', 'conflict', 'stale_plan'],
  async prepare({ store, services, caller }, { id, decision }) {
    const approval = await findApproval(store.db, id);
    // A passed deadline is reported first, by the decision itself.
    const isOpen = approval !== undefined && (await isStillOpen({ store, services }, approval));
    if (isOpen && isAsking(approval, caller.owner)) {
      await recordRefusal(store, caller, id, decision);
      refuseAsker(approval, caller.owner);
    }
    return isOpen ? lookAtFiles(readerOf({ store, services }), approval, decision) : NOT_LOOKED;
  },
  async run({ store, services, tx, caller }, { id, decision, reason }, files) {
    await refuseSession(tx, caller);
    const { name, owner, via } = caller;
    const request = {
      approvalId: id,
      decision,
      reason: reason === undefined || reason === '' ? null : reason,
      decider: { name, owner, via },
      files,
    };
    const { approval, jobState } = await decide({ store, services }, tx, request);
    const decided = reply('approval.decision', {
      approval_id: id,
      job_id: approval.job_id,
      decision,
      state: approval.state,
      job_state: jobState,
      decided_at: rfc3339(approval.decided_at ?? tx.now),
      decided_by: name,
      decided_via: via,
      reason: approval.reason,
    });
    return written(decided, id, { decision });
  },
});

/** A session in the browser decides with the scopes of its token; strict, only with that of a decider. */
async function refuseSession(tx: Tx, { credential, scopes, scope }: Caller): Promise<void> {
  if (credential !== 'session' || DECIDERS.some((each) => scopes.includes(each))) return;
  if (!(await findGate(tx)).isStrict) return;
  throw new Failure('forbidden', `The gate is strict: a decision needs the scope approve; this session has ${scope}.`);
}

async function isStillOpen(
  { store, services }: Pick<Context, 'store' | 'services'>,
  { state, expires_at: expiresAt }: ApprovalRow,
): Promise<boolean> {
  return state === 'pending' && expiresAt > (await store.dialect.clock(store.db, services.clock.now()));
}

export const APPROVAL_OPERATIONS: readonly Operation[] = [list, get, plan, order, watch, decision];
