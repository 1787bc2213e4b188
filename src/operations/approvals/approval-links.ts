import * as z from 'zod';
import type { Decision } from '../../domain/approvals/approval.ts';
import { Failure } from '../../domain/failure.ts';
import { decisionUrl } from '../../domain/approvals/link.ts';
import { OPERATORS } from '../../domain/access/scope.ts';
import { rfc3339 } from '../../lib/clock.ts';
import { fromJson } from '../../lib/json.ts';
import { getApproval } from '../../store/approvals/approvals.ts';
import { insertLinks } from '../../store/approvals/decision-links.ts';
import { checkTag } from '../../store/engine/tags/tags.ts';
import type { Tx } from '../../store/engine/tx.ts';
import type { ApprovalRow } from '../../store/schema/schema.ts';
import * as field from '../core/fields.ts';
import { holdStanding } from './link-standing.ts';
import { localOnly, type Operation, writeOperation } from '../core/operation.ts';
import { reply, written } from '../core/reply.ts';

const CAPABILITY = localOnly(
  'A link is a capability: it is created on the machine or sent in a notification, never by the API.',
);

/** The absolute URLs of one recipient's pair, and when the approval ends, in milliseconds since the epoch. */
export interface MintedLinks {
  readonly approve: string;
  readonly reject: string;
  readonly expiresAt: number;
}

interface LinkOrder {
  readonly origin: string;
  readonly approvalId: string;
  /** As whom the links act. */
  readonly recipient: string;
  /** The key of the `--notify` target that they are made for. */
  readonly target?: string | null;
  /** The owner who asked for them; null for the service itself. */
  readonly madeBy: string | null;
  /** The decisions that a button may take without the form of the page; none unless it is said. */
  readonly oneTap?: readonly Decision[];
}

/**
 * Makes the two links of a recipient, below `origin`; earlier ones of the same recipient stop working. Throws
 * not_found; conflict if the approval is settled or has expired; forbidden if the recipient may not decide, or if the
 * recipient or the owner who makes the links is a requester, since the link would be a way around the second person,
 * or where somebody changed the row.
 */
export async function mintLinks(
  tx: Tx,
  { origin, approvalId, recipient, target = null, madeBy, oneTap = [] }: LinkOrder,
): Promise<MintedLinks> {
  const approval = await getApproval(tx.db, approvalId);
  if (approval.state !== 'pending')
    throw new Failure('conflict', `Approval ${approvalId} is ${approval.state} already.`);
  const now = await tx.dialect.clock(tx.db, tx.now);
  if (approval.expires_at <= now) {
    throw new Failure('conflict', `Approval ${approvalId} has expired and can no longer be decided.`);
  }
  // It says who is asking.
  await checkTag(tx, 'approvals', approval);
  const asking = [recipient, madeBy].find((owner) => owner !== null && isAsking(approval, owner));
  if (asking !== undefined && asking !== null) {
    throw new Failure(
      'forbidden',
      `${asking} requested this job; another person must create and receive the link for ${approvalId}.`,
    );
  }
  const lapse = await holdStanding(tx, { recipient, target }, now);
  if (lapse === 'target') throw new Failure('forbidden', `No running daemon has the --notify target of ${recipient}.`);
  if (lapse === 'strict')
    throw new Failure('forbidden', `The gate is strict: a link of the --notify target ${recipient} does not decide.`);
  if (lapse === 'owner') {
    throw new Failure(
      'forbidden',
      `${recipient} has no active token of the scope approve, so a link for ${recipient} would decide nothing. ` +
        'Create one with svc token create.',
    );
  }
  const tokens = await insertLinks(tx, { approvalId, recipient, target, madeBy, oneTap });
  return {
    approve: decisionUrl(origin, approvalId, 'approve', tokens.approve),
    reject: decisionUrl(origin, approvalId, 'reject', tokens.reject),
    expiresAt: approval.expires_at,
  };
}

/** Whether the owner is a requester: requesters cannot decide. */
export function isAsking(approval: Pick<ApprovalRow, 'owners'>, owner: string): boolean {
  return fromJson(approval.owners).includes(owner);
}

const link = writeOperation({
  id: 'approval.link',
  causes: { none: 'A link acts as its recipient, whose decision is noted.' },
  summary: 'Create approve and reject links for one person; shown only once',
  shownOnce: true,
  scopes: OPERATORS,
  ...CAPABILITY,
  cli: {
    verb: 'approval link',
    positionals: ['id'],
    examples: ['svc approval link apr_01m7yd4zyke00anp2z332d2j5p --recipient ana'],
  },
  input: z.strictObject({
    id: field.id('apr'),
    recipient: field.name.describe("Owner that decides with the links, as in this person's tokens"),
  }),
  answers: ['approval.link'],
  failures: ['not_found', 'forbidden', 'conflict'],
  prepare: ({ services }) => services.linkOrigin(),
  async run({ tx, caller }, { id, recipient }, origin) {
    const { approve, reject, expiresAt } = await mintLinks(tx, {
      origin,
      approvalId: id,
      recipient,
      madeBy: caller.owner,
    });
    const links = { approval_id: id, recipient, approve, reject, expires_at: rfc3339(expiresAt) };
    return written(reply('approval.link', links), id, { recipient });
  },
});

export const APPROVAL_LINK_OPERATIONS: readonly Operation[] = [link];
