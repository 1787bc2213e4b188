import { hash } from 'node:crypto';
import type { Decision } from '../../domain/approvals/approval.ts';
import { newSecret } from '../../domain/access/token.ts';
import type { Tx } from '../engine/tx.ts';
import { rowBy } from '../engine/rows.ts';
import type { Untagged } from '../engine/tags/forms.ts';
import { type Checked, ifTagged, tagOf, type TagReader } from '../engine/tags/tags.ts';
import type { DecisionLinkRow } from '../schema/schema.ts';

/**
 * How long links are kept, in milliseconds: 30 days. They decide nothing once their approval has ended, at the latest 7
 * days after the request; a later visit shows the outcome.
 */
const KEPT_MS = 30 * 86_400_000;
/** Old links that one new pair removes at most, so that making a pair stays a short write. */
const REMOVED_MAX = 20;

/** The tokens of one pair, which exist here and in the URLs made of them only: 256 random bits, and their hash. */
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

/** The maker of a link that the service itself made. */
const SERVICE = 'gatehouse';

/** Makes the pair of links of a recipient. It replaces an earlier pair for the same approval and recipient. */
export async function insertLinks(
  tx: Tx,
  { approvalId, recipient, target, madeBy, oneTap = [] }: NewLinks,
): Promise<LinkTokens> {
  // Two concurrent calls would each leave a pair.
  await tx.dialect.lockKey(tx.db, `links:${approvalId}`);
  const approve = newSecret();
  const tokens = { approve, reject: rejectToken(approve) };
  const row = (decision: Decision): Untagged<DecisionLinkRow> => ({
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
    .values([row('approve'), row('reject')].map((each) => ({ ...each, ...tagOf(tx.ring, 'decision_links', each) })))
    .execute();
  await deleteOldLinks(tx);
  return tokens;
}

/** Ids of approvals sort by time, so the oldest links come first in the index. */
async function deleteOldLinks(tx: Tx): Promise<void> {
  await tx.db
    .deleteFrom('decision_links')
    .where('created_at', '<', tx.now - KEPT_MS)
    .where('hash', 'in', (eb) =>
      eb.selectFrom('decision_links as old').select('old.hash').orderBy('old.approval_id').limit(REMOVED_MAX),
    )
    .execute();
}

/**
 * The other token of a pair, so that the page of a yes can offer the no as well. Who has it cannot derive that of the
 * yes from it.
 */
export function rejectToken(approve: string): string {
  return hash('sha256', `reject:${approve}`, 'base64url');
}

/** The key of a link in the store, which must not hold the token itself. */
export function linkHash(token: string): string {
  return hash('sha256', token);
}

const linkByHash = rowBy('decision_links', 'hash');

/** By the hash of its token. Undefined too for one that somebody wrote into the database. */
export async function findLink(at: TagReader, hashOfToken: string): Promise<Checked<DecisionLinkRow> | undefined> {
  return ifTagged(at, 'decision_links', await linkByHash(at.db, hashOfToken));
}
