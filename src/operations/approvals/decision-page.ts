/**
 * What a decision link shows and does. The face makes pages of it; the decision itself is `decide`, as for every face.
 */
import { timingSafeEqual } from 'node:crypto';
import * as z from 'zod';
import { REASON_MAX, type Decision, type Origin } from '../../domain/approvals/approval.ts';
import { Failure } from '../../domain/failure.ts';
import { KINDS } from '../../domain/kinds.ts';
import type { JobKind } from '../../domain/jobs/job.ts';
import { isOneTap } from '../../domain/approvals/one-tap.ts';
import { stillHolds } from '../../jobs/standing.ts';
import { getApproval, getListedApproval } from '../../store/approvals/approvals.ts';
import { findLink, linkHash, rejectToken } from '../../store/approvals/decision-links.ts';
import { type Checked, checkTag } from '../../store/engine/tags/tags.ts';
import type { Tx } from '../../store/engine/tx.ts';
import type { DecisionLinkRow } from '../../store/schema/schema.ts';
import { isAsking } from './approval-links.ts';
import { summaryFacts } from './approval-view.ts';
import { type ShownApproval, shownApproval } from './checked-request.ts';
import { summarise } from '../../domain/approvals/summary.ts';
import { decide, recordRefusal } from './decide.ts';
import type { Runtime } from '../core/invoke.ts';
import { holdStanding, type Lapse, lapseOf } from './link-standing.ts';
import type { ViewData } from '../../views/views.ts';
import * as field from '../core/fields.ts';
import { parseInput } from '../core/parse.ts';
import { actorOf } from '../core/reply.ts';
import { orderFor, type PlanFacts, planOf } from './decision-subject.ts';
import { lookAtFiles, readerOf } from './pinned-files.ts';

/** The parts of a link's URL, as they came. */
export interface LinkVisit {
  readonly approvalId: string;
  readonly decision: string;
  readonly token: string;
}

/** Identifiers and times of what is decided; times in milliseconds since the epoch. */
export interface Asked {
  readonly decision: Decision;
  readonly jobId: string;
  readonly kind: JobKind;
  readonly workspace: string | null;
  readonly runbook: string;
  /** Whether it carries out a saved plan. */
  readonly planned: boolean;
  /** What it does, in one line. */
  readonly summary: string;
  readonly requestedBy: string;
  /** The reason that the requester gave; null without one. */
  readonly because: string | null;
  readonly origin: Origin;
  readonly rule: string | null;
  readonly schedule: string | null;
  readonly expiresAt: number;
  readonly now: number;
}

export interface Question {
  readonly approvalId: string;
  readonly asked: Asked;
  readonly plan: PlanFacts | null;
  /** A sentence in place of an order that cannot be shown; null for a request that somebody changed. */
  readonly order: ViewData<'order'> | string | null;
  /** What the form sends back, so that only a visitor of the page can send it. */
  readonly proof: string;
  /** Of the other link of the pair, on the page of a yes: the token and the proof for a no. */
  readonly reject: { readonly token: string; readonly proof: string } | null;
}

export type DecisionPage =
  /** No such link, or not for this approval and this decision. */
  | { readonly show: 'unknown' }
  /** What is asked. */
  | ({ readonly show: 'question' } & Question)
  /** `fresh` where this very request decided. */
  | {
      readonly show: 'outcome';
      readonly asked: Asked;
      readonly fresh: boolean;
      readonly state: 'approved' | 'rejected';
      readonly at: number;
      readonly by: string;
      readonly via: string;
      readonly reason: string | null;
    }
  | { readonly show: 'expired'; readonly asked: Asked }
  /** `serial` is the current serial of the state; null if it is not known. */
  | { readonly show: 'stale'; readonly asked: Asked; readonly serial: number | null }
  /** Somebody changed a row of the request; `why` is for people. */
  | { readonly show: 'changed'; readonly why: string }
  /** The recipient is a requester. */
  | { readonly show: 'own'; readonly asked: Asked }
  /** The recipient can no longer decide. */
  | { readonly show: 'lapsed'; readonly asked: Asked; readonly why: NonNullable<Lapse>; readonly recipient: string };

/** A proof has 64 characters; a longer field is not one. */
const PROOF_MAX = 100;

/** The fields of the page's form. Browsers send the line ends of a text area as CRLF and count each as one. */
const FORM = z.strictObject({
  reason: z
    .string()
    .transform((text) => text.replaceAll('\r\n', '\n').trim())
    .refine((text) => text.length <= REASON_MAX, { error: `expected at most ${REASON_MAX} characters` })
    .optional(),
  seen: field.text(PROOF_MAX).optional(),
});

type Link = Checked<DecisionLinkRow>;

const UNKNOWN: DecisionPage = { show: 'unknown' };

/** What a visitor is shown. Changes nothing, however often it is called. */
export async function visitLink(runtime: Runtime, visit: LinkVisit): Promise<DecisionPage> {
  const link = await linkOf(runtime, visit);
  return link === null ? UNKNOWN : pageOf(runtime, link, visit.token, false);
}

/**
 * The value that the form of a page sends back. It is derived from the token, so nothing is stored for it.
 */
export function proofOf(token: string): string {
  return linkHash(`form:${token}`);
}

/**
 * Decides as the link says, once, in the name of its recipient: by the form of the page, or by one tap where that is
 * allowed. Answers `outcome` with `fresh` if it did; every other page means that nothing was done. Throws Failure for
 * other faults: a wrong field, a busy store.
 */
export async function decideByLink(
  runtime: Runtime,
  visit: LinkVisit,
  fields: Readonly<Record<string, string>>,
): Promise<DecisionPage> {
  const link = await linkOf(runtime, visit);
  if (link === null) return UNKNOWN;
  const { reason: given = '', seen } = parseInput(FORM, fields);
  const reason = given === '' ? null : given;
  const isForm = seen !== undefined && linkHash(seen) === linkHash(proofOf(visit.token));
  const decider = { name: link.recipient, owner: link.recipient, via: 'link' };
  try {
    await refuseUnseen(runtime, link, isForm);
    const files = await lookAtFiles(
      readerOf(runtime),
      await getApproval(runtime.store.db, link.approval_id),
      link.decision,
    );
    await runtime.store.write(async (tx) => {
      // In the transaction of the decision: a token that was revoked before it decides nothing.
      await refuseLapsed(tx, link);
      await decide(runtime, tx, { approvalId: link.approval_id, decision: link.decision, reason, decider, files });
      tx.record({
        ...actorOf(decider),
        operation: 'approval.decision',
        target: link.approval_id,
        detail: { decision: link.decision },
      });
    });
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const page = await pageOf(runtime, link, visit.token, false);
    // The page would not show the reason of this refusal. Without the form, the page itself is the answer.
    if (page.show === 'question' && isForm) throw error;
    if (page.show === 'own' || page.show === 'lapsed')
      await recordRefusal(runtime.store, decider, link.approval_id, link.decision);
    return page;
  }
  return pageOf(runtime, link, visit.token, true);
}

/**
 * Refuses a decision by a person who has not seen the plan: a request without the form of the page, unless the link
 * was made as a button and its plan destroys nothing. The latter is read from the sealed plan, not from the message
 * that was sent. A plan that cannot be opened cannot be approved with a link.
 */
async function refuseUnseen(runtime: Runtime, link: Link, isForm: boolean): Promise<void> {
  const needsNotification = new Failure(
    'forbidden',
    'This needs the page: open the link and use its button. Nothing was decided.',
  );
  if (!isForm && link.one_tap !== 1) throw needsNotification;
  if (link.decision === 'reject') return;
  // By its tag it is the one that was asked for, also while the decision waits for its turn to write.
  const approval = await checkTag(runtime.store, 'approvals', await getApproval(runtime.store.db, link.approval_id));
  if (KINDS[approval.kind].needsConsole === true)
    throw new Failure('forbidden', 'This is approved in the console, which shows all of it. Nothing was decided.');
  const { is } = await stillHolds(runtime.store, approval);
  const shown = is === 'good' ? await planOf(runtime, approval) : null;
  if (isForm && shown?.destroyed === null)
    throw new Failure(
      'conflict',
      'The plan cannot be opened, so it cannot be approved with a link. Nothing was decided.',
    );
  if (
    !isForm &&
    !isOneTap({ kind: approval.kind, destroys: shown?.destroyed?.length ?? null, ruleAllows: approval.one_tap === 1 })
  )
    throw needsNotification;
}

async function refuseLapsed(tx: Tx, link: Link): Promise<void> {
  const lapse = await holdStanding(tx, link, await tx.dialect.clock(tx.db, tx.now));
  if (lapse !== null) throw new Failure('forbidden', `${link.recipient} can no longer decide. Nothing was decided.`);
}

/**
 * The link that a URL names; null if it does not exist. Whether the token, the approval or the decision of the URL is
 * wrong shows neither in the answer nor in the time: one hash, one look-up, one comparison.
 */
async function linkOf({ store }: Runtime, { approvalId, decision, token }: LinkVisit): Promise<Link | null> {
  const hash = linkHash(token);
  const link = await findLink(store, hash);
  const named = linkHash(JSON.stringify([hash, approvalId, decision]));
  const kept = linkHash(JSON.stringify([link?.hash, link?.approval_id, link?.decision]));
  return timingSafeEqual(Buffer.from(named), Buffer.from(kept)) && link !== undefined ? link : null;
}

async function pageOf(runtime: Runtime, link: Link, token: string, fresh: boolean): Promise<DecisionPage> {
  const { db, dialect } = runtime.store;
  const approval = await shownApproval(runtime.store, await getListedApproval(db, link.approval_id));
  const now = await dialect.clock(db, runtime.services.clock.now());
  const asked = askedOf(approval, link.decision, now);
  const { state } = approval;
  if (state === 'approved' || state === 'rejected') {
    const { decided_at: at, decided_by: by, decided_via: via, reason } = approval;
    return { show: 'outcome', asked, fresh, state, at: at ?? now, by: by ?? '', via: via ?? '', reason };
  }
  if (state === 'expired' || approval.expires_at <= now) return { show: 'expired', asked };
  const { fault } = approval;
  if (fault !== null && link.decision === 'approve') return { show: 'changed', why: fault };
  if (isAsking(approval, link.recipient)) return { show: 'own', asked };
  const why = await lapseOf(runtime.store, link, now);
  if (why !== null) return { show: 'lapsed', asked, why, recipient: link.recipient };
  const question = {
    show: 'question',
    approvalId: approval.id,
    asked,
    proof: proofOf(token),
    reject: await otherOf(runtime, link, token),
  } as const;
  // Its plan and its order may be another's.
  if (fault !== null) return { ...question, plan: null, order: null };
  const seen = async () => ({ plan: await planOf(runtime, approval), order: await orderFor(runtime, approval) });
  if (link.decision === 'reject') return { ...question, ...(await seen()) };
  const check = await stillHolds(runtime.store, approval);
  if (check.is === 'changed') return { show: 'changed', why: check.why };
  // The form says so where they are still not read then.
  if (check.is !== 'good' && check.is !== 'unread')
    return { show: 'stale', asked, serial: check.is === 'moved' ? check.stale.current_serial : null };
  return { ...question, ...(await seen()) };
}

/** The no beside a yes; null on the page of a no, and for pairs of earlier builds, whose tokens are unrelated. */
async function otherOf(runtime: Runtime, link: Link, token: string): Promise<Question['reject']> {
  if (link.decision === 'reject') return null;
  const visit = { approvalId: link.approval_id, decision: 'reject', token: rejectToken(token) };
  return (await linkOf(runtime, visit)) === null ? null : { token: visit.token, proof: proofOf(visit.token) };
}

function askedOf(approval: ShownApproval, decision: Decision, now: number): Asked {
  return {
    decision,
    jobId: approval.job_id,
    kind: approval.kind,
    workspace: approval.workspace,
    runbook: approval.runbook,
    planned: approval.plan_artifact_id !== null,
    summary: summarise(summaryFacts(approval)),
    requestedBy: approval.requested_by,
    because: approval.because,
    origin: approval.origin,
    rule: approval.rule,
    schedule: approval.schedule,
    expiresAt: approval.expires_at,
    now,
  };
}
