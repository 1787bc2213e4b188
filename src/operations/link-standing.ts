/** Whether a decision link acts. It is asked when the link is made, shown and used, and each time the store answers. */
import { DECIDERS } from '../domain/scope.ts';
import type { Tx } from '../store/gate.ts';
import type { DecisionLinkRow } from '../store/schema.ts';
import { hasActiveToken, holdActiveToken } from '../store/tokens.ts';

/** The recipient of a link of a `--notify` target. A name of an owner has no colon. */
const TARGET = /^transport:\d+$/;

/** Why a link does not act; null when it does. */
export type Lapse = 'owner' | null;

type LinkHolder = Pick<DecisionLinkRow, 'recipient'>;
type At = Pick<Tx, 'db' | 'dialect'>;

/** As committed at `now`, in milliseconds by the store's clock. For a page that shows it; a write uses `holdStanding`. */
export async function lapseOf({ db }: At, { recipient }: LinkHolder, now: number): Promise<Lapse> {
  if (TARGET.test(recipient)) return null;
  return (await hasActiveToken(db, recipient, DECIDERS, now)) ? null : 'owner';
}

/** As `lapseOf`, and what it is based on stays as it is until the transaction ends: a revocation waits for the decision. */
export async function holdStanding(tx: Tx, { recipient }: LinkHolder, now: number): Promise<Lapse> {
  if (TARGET.test(recipient)) return null;
  return (await holdActiveToken(tx, recipient, DECIDERS, now)) ? null : 'owner';
}
