import { readSealKey } from '../../config/seal-key.ts';
import { createKeyring, type Keyring } from '../../lib/seal.ts';
import { verifyLedger } from '../../store/audit/verify.ts';
import { fail, type Facts, type Finding, named, ok, warn } from '../entry.ts';
import { withStore } from '../with-store.ts';

/** Verifies each chain of the audit ledger from its first row to its head. */
export function examineAuditLedger(facts: Facts): Promise<Finding> {
  return withStore(facts.openedStore, async (store) => {
    const { chains, rows, faults, unkeyed } = await verifyLedger(store.db, await findRing(facts));
    if (faults.length > 0) return fail(`${named(faults)}.`);
    const whole = `${rows} rows in ${counted(chains)}, each following the one before it.`;
    if (unkeyed === 0) return ok(whole);
    return warn(
      `${whole} ${counted(unkeyed)} of an earlier build without a key: start "svc serve" of this build when no ` +
        'daemon of the earlier build runs.',
    );
  });
}

/** Null without a usable key; the entry `seal` reports why. */
async function findRing({ settings, paths }: Facts): Promise<Keyring | null> {
  const state = await readSealKey(settings.sealKeyFile ?? paths.sealKey);
  return state.ok ? createKeyring(state.keys) : null;
}

function counted(chains: number): string {
  return `${chains} ${chains === 1 ? 'chain' : 'chains'}`;
}
