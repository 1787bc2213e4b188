import { MESSAGE_REFUSALS } from '../../domain/events/message-refusal.ts';
import { listRefusals, type NewRefusal } from '../../store/events/webhook-refusals.ts';
import { type Facts, type Finding, NAMED_MAX, ok, warn } from '../entry.ts';
import { withStore } from '../with-store.ts';

/** Webhook messages refused or taken with a fault within a day, from their counts by hours. */
export function examineIngress({ openedStore, clock }: Facts): Promise<Finding> {
  return withStore(openedStore, async ({ db, dialect }) => {
    const refusals = await listRefusals(db, await dialect.clock(db, clock.now()));
    if (refusals.length === 0) return ok('Messages of webhooks: none refused or taken with a fault within a day.');
    const hooks = Map.groupBy(refusals, ({ webhook }) => webhook);
    const named = [...hooks].toSorted(([, a], [, b]) => countOf(b) - countOf(a)).slice(0, NAMED_MAX);
    const more = hooks.size > NAMED_MAX ? `; ${hooks.size - NAMED_MAX} more webhooks` : '';
    return warn(
      `Messages of webhooks: ${countOf(refusals)} refused or taken with a fault within a day: ` +
        `${named.map(hookOf).join('; ')}${more}. ` +
        'See svc event list --outcome error.',
    );
  });
}

function hookOf([webhook, refusals]: [string, readonly NewRefusal[]]): string {
  return `${webhook}: ${refusals.map(({ reason, count }) => `${count} ${MESSAGE_REFUSALS[reason]}`).join(', ')}`;
}

function countOf(refusals: readonly NewRefusal[]): number {
  return refusals.reduce((sum, { count }) => sum + count, 0);
}
