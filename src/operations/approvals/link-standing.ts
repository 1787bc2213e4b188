/** Whether a decision link acts. It is asked when the link is made, shown and used, and each time the store answers. */
import { isNumberedTarget } from '../../domain/notify/target.ts';
import { DECIDERS } from '../../domain/access/scope.ts';
import type { TagReader } from '../../store/engine/tags/tags.ts';
import { findGate } from '../../store/gate/gate.ts';
import type { Tx } from '../../store/engine/tx.ts';
import { isTargetLive } from '../../store/notify/targets.ts';
import type { DecisionLinkRow } from '../../store/schema/schema.ts';
import { hasActiveToken, holdActiveToken } from '../../store/access/tokens.ts';

/**
 * Why a link does not act: its owner may not decide, no running daemon has its `--notify` target, or the gate is strict
 * and a target is no person. Null when it acts.
 */
export type Lapse = 'owner' | 'target' | 'strict' | null;

/** As whom a link acts; `target` is the key of a `--notify` target, null for an owner. */
export type LinkHolder = Pick<DecisionLinkRow, 'recipient' | 'target'>;
type At = TagReader & Pick<Tx, 'dialect'>;

/**
 * As committed at `now`, in milliseconds by the store's clock. For a page that shows it; a write uses `holdStanding`.
 */
export function lapseOf(at: At, holder: LinkHolder, now: number): Promise<Lapse> {
  return judge(at, holder, (owner) => hasActiveToken(at, owner, DECIDERS, now));
}

/** As `lapseOf`; an owner's tokens stay as they are until the transaction ends: a revocation waits for the decision. */
export function holdStanding(tx: Tx, holder: LinkHolder, now: number): Promise<Lapse> {
  return judge(tx, holder, (owner) => holdActiveToken(tx, owner, DECIDERS, now));
}

async function judge(
  at: At,
  { recipient, target }: LinkHolder,
  mayDecide: (owner: string) => Promise<boolean>,
): Promise<Lapse> {
  if (target !== null) {
    if ((await findGate(at)).isStrict) return 'strict';
    return (await isTargetLive(at, target)) ? null : 'target';
  }
  // Of an earlier build, and no daemon has a target of its number.
  if (isNumberedTarget(recipient)) return 'target';
  return (await mayDecide(recipient)) ? null : 'owner';
}
