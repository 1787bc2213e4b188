import { verifyLedger } from '../store/ledger.ts';
import { fail, type Facts, type Finding, ok } from './entry.ts';
import { withStore } from './with-store.ts';

/** Faults that are named; there is at most one per chain. */
const NAMED_MAX = 5;

/** Each chain of the audit ledger holds from its first row to its head. */
export function examineAuditLedger({ openedStore }: Facts): Promise<Finding> {
  return withStore(openedStore, async (store) => {
    const { chains, rows, faults } = await verifyLedger(store.db);
    if (faults.length === 0) return ok(`${rows} rows in ${chains} ${chains === 1 ? 'chain' : 'chains'}, each following the one before it.`);
    const more = faults.length > NAMED_MAX ? `; ${faults.length - NAMED_MAX} more` : '';
    return fail(`${faults.slice(0, NAMED_MAX).join('; ')}${more}.`);
  });
}
