import type { Fact } from '../facts.ts';
import type { ModelApproval } from '../model.ts';
import { differs, type Moment, type OperationRule, type OracleArea } from '../rule.ts';

const decision: OperationRule = {
  scopes: ['approve'],
  sessionScopes: ['operator', 'approve'],
  allows(model, { raw, caller }) {
    // What becomes of links, and whether their recipients have tokens, is not modelled.
    const ofLink = caller.credential === 'link' ? ['not_found', 'forbidden'] : [];
    const approval = model.approvals.get(String(raw['id']));
    if (approval === undefined) return ['not_found'];
    if (approval.state !== 'pending') return ['conflict', ...ofLink];
    const answer = approval.owners.includes(caller.owner) ? 'forbidden' : 'ok';
    // It may be past the deadline, and not noticed yet. An inventory that can be changed may not be as it was.
    const isFixed = raw['decision'] !== 'approve' || model.jobs.get(approval.job)?.inventory === 'localhost';
    return model.nowMs < approval.expiresAt && isFixed ? [answer, ...ofLink] : [answer, 'conflict', ...ofLink];
  },
  isOf: ({ target, detail }, { raw }) => target === raw['id'] && detail['decision'] === raw['decision'],
  apply(moment, fact, { caller, raw }) {
    const { model, refuse } = moment;
    const approval = pendingOf(moment, fact);
    if (approval === undefined) return {};
    if (approval.owners.includes(caller.owner)) refuse(`about ${approval.id} by ${caller.owner}, who asked for it`);
    const isYes = raw['decision'] === 'approve';
    approval.state = isYes ? 'approved' : 'rejected';
    const job = model.jobs.get(approval.job);
    if (job?.state !== 'awaiting_approval') refuse(`about ${approval.job}, which was ${job?.state}`);
    if (job !== undefined) model.move(job, isYes ? 'queued' : 'cancelled');
    return { job: approval.job, state: approval.state, ...(job === undefined ? {} : { jobState: job.state }) };
  },
  contradicts: (_model, data, effect) =>
    differs(data, { job_id: effect?.job, state: effect?.state, job_state: effect?.jobState }),
  unreached: { stale_plan: 'needs a workspace whose state moved' },
};

function pendingOf({ model, refuse }: Moment, { target }: Fact): ModelApproval | undefined {
  const approval = model.approvals.get(target ?? '');
  if (approval === undefined) refuse(`of ${target}, which is not there`);
  else if (approval.state !== 'pending') refuse(`of ${approval.id}, which was ${approval.state}`);
  return approval?.state === 'pending' ? approval : undefined;
}

function expire(moment: Moment, fact: Fact): void {
  const { model, refuse } = moment;
  const approval = pendingOf(moment, fact);
  if (approval === undefined) return;
  if (model.latestMs < approval.expiresAt) refuse(`of ${approval.id}, before its deadline`);
  approval.state = 'expired';
  approval.endedAt = model.elapsedMs;
  const job = model.jobs.get(approval.job);
  if (job?.state === 'awaiting_approval') model.move(job, 'cancelled');
}

/** Somebody who asked tried to decide, or with a link somebody who may not. */
function refused({ model, refuse }: Moment, { target, owner, via }: Fact): void {
  if (via !== 'link' && model.approvals.get(target ?? '')?.owners.includes(owner) !== true)
    refuse(`of ${target} for ${owner}, who did not ask for it`);
}

/** The clock was set back: a deadline that is further away than any can be comes earlier, and none later. */
function correct({ model, rows, refuse }: Moment): void {
  for (const approval of model.approvals.values()) {
    const expiresAt = rows.approvals.get(approval.id)?.expiresAt ?? approval.expiresAt;
    if (expiresAt > approval.expiresAt) refuse(`gave ${approval.id} more time`);
    approval.expiresAt = expiresAt;
  }
}

export const APPROVALS: OracleArea = {
  operations: { 'approval.decision': decision },
  moves: { 'approval.expire': expire, 'approval.refused': refused, 'clock.correct': correct },
};
