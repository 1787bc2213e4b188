import { CLOSES, OPENING_WORDS } from '../../domain/gate/opening.ts';
import { rfc3339 } from '../../lib/clock.ts';
import { findGate } from '../../store/gate/gate.ts';
import { listOpenings, strictByLedger } from '../../store/gate/openings.ts';
import { fail, type Facts, type Finding, ok } from '../entry.ts';
import { withStore } from '../with-store.ts';

/** Reports what one person alone can do, and a gate that somebody opened in the database. */
export function examineGate({ openedStore, clock }: Facts): Promise<Finding> {
  return withStore(openedStore, async (store) => {
    const { isStrict, isChanged } = await findGate(store);
    if (isChanged)
      return fail('The row of the gate was changed in the database, and counts as strict: svc gate strict on.');
    const since = isStrict ? null : await strictByLedger(store.db);
    if (since !== null)
      return fail(
        `The gate is open, and the ledger says that it is strict since ${rfc3339(since)}: svc gate strict on, then ` +
          'find out who wrote to the database.',
      );
    const open = await listOpenings(store, clock.now(), isStrict);
    const words = open.map(({ what, count }) => `${count} ${OPENING_WORDS[what]} (${CLOSES[what]})`);
    const state = isStrict ? 'The gate is strict' : 'The gate is not strict (svc gate strict on)';
    return ok(words.length === 0 ? `${state}; nothing is open.` : `${state}. Open: ${words.join('; ')}.`);
  });
}
