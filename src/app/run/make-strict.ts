import { findGate, setGate } from '../../store/gate/gate.ts';
import type { Store } from '../../store/store.ts';

const SERVICE = { principal: 'gatehouse', owner: 'gatehouse', via: 'daemon' } as const;

/** As `svc gate strict on`, before anything is served; the ledger says it once. */
export async function makeStrict(store: Store): Promise<void> {
  if ((await findGate(store)).isStrict) return;
  await store.write(async (tx) => {
    await setGate(tx, { by: SERVICE.owner, isStrict: true });
    tx.record({ ...SERVICE, operation: 'gate.strict', target: null, detail: { strict: true } });
  });
}
