import { hash } from 'node:crypto';
import type { Decision } from '../../domain/approvals/approval.ts';
import { newSecret } from '../../domain/access/token.ts';
import type { Tx } from '../engine/tx.ts';
import { rowBy } from '../engine/rows.ts';
import type { DecisionLinkRow } from '../schema/schema.ts';

/**
 * How long links are kept, in milliseconds: 30 days. They are dead once their approval is decided, at the latest 7
 * days after it was asked for; until then and for a while after it, who visits one again is told the outcome.
 */
const KEPT_MS = 30 * 86_400_000;
/** Old links that one new pair removes at most, so that minting never becomes a long write. */
const REMOVED_MAX = 20;

/** The tokens of one pair: 256 random bits each, base64url. They exist here and in the URLs made of them only. */
export type LinkTokens = Readonly<Record<Decision, string>>;

interface NewLinks {
  readonly approvalId: string;
  /** As whom the links act. */
  readonly recipient: string;
  /** The key of the `--notify` target that gets them; null where they act as an owner. */
  readonly target: string | null;
  /** The owner of the credential that asked for them; null for the service itself. */
  readonly madeBy: string | null;
  /** The decisions whose link is a button in a notification. */
  readonly oneTap?: readonly Decision[];
}

/** What stands for the service where the row names who made a link. */
const SERVICE = 'gatehouse';

/** Makes the pair of links of a recipient. An earlier pair for the same approval and recipient works no more. */
export async function insertLinks(
  tx: Tx,
  { approvalId, recipient, target, madeBy, oneTap = [] }: NewLinks,
): Promise<LinkTokens> {
  // Two that mint at a time would each leave a pair.
  await tx.dialect.lockKey(tx.db, `links:${approvalId}`);
  const tokens = { approve: newSecret(), reject: newSecret() };
  const row = (decision: Decision): DecisionLinkRow => ({
    hash: linkHash(tokens[decision]),
    approval_id: approvalId,
    decision,
    recipient,
    made_by: madeBy ?? SERVICE,
    created_at: tx.now,
    target,
    one_tap: oneTap.includes(decision) ? 1 : 0,
  });
  await tx.db
    .deleteFrom('decision_links')
    .where('approval_id', '=', approvalId)
    .where('recipient', '=', recipient)
    .where('target', target === null ? 'is' : '=', target)
    .execute();
  await tx.db
    .insertInto('decision_links')
    .values([row('approve'), row('reject')])
    .execute();
  await deleteOldLinks(tx);
  return tokens;
}

/** Ids of approvals sort by time, so the oldest links stand first in the index. */
async function deleteOldLinks(tx: Tx): Promise<void> {
  await tx.db
    .deleteFrom('decision_links')
    .where('created_at', '<', tx.now - KEPT_MS)
    .where('hash', 'in', (eb) =>
      eb.selectFrom('decision_links as old').select('old.hash').orderBy('old.approval_id').limit(REMOVED_MAX),
    )
    .execute();
}

/** What a link is looked up by: nothing that the store holds opens anything. */
export function linkHash(token: string): string {
  return hash('sha256', token);
}

/** By the hash of its token. */
export const findLink = rowBy('decision_links', 'hash');
