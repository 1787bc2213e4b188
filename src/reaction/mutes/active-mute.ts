import { type Announced, mutes } from '../../domain/rules/mute.ts';
import type { Tx } from '../../store/engine/tx.ts';
import { activeMutes } from '../../store/rules/mutes.ts';

/** The mute that suppresses an announcement, by its possible subjects; null without one. */
export async function holdingMute(tx: Tx, subjects: () => Promise<readonly Announced[]>): Promise<string | null> {
  const active = await activeMutes(tx.db, await tx.dialect.clock(tx.db, tx.now));
  if (active.length === 0) return null;
  const about = await subjects();
  return (
    active.find(({ scope_kind: kind, scope_value: value }) => about.some((subject) => mutes({ kind, value }, subject)))
      ?.id ?? null
  );
}

/** The stored state of a notification that a mute may suppress. A suppressed one is never sent later. */
export function notificationState(mute: string | null): {
  readonly state: 'new' | 'held';
  readonly reason: string | null;
  readonly followed: 0;
} {
  return mute === null
    ? { state: 'new', reason: null, followed: 0 }
    : { state: 'held', reason: `held by ${mute}`, followed: 0 };
}
