import { PRIVATE_FILE_MODE } from '../../config/data-dir.ts';
import { createExclusive } from '../../lib/atomic-file.ts';
import { keyLedger } from '../../store/audit/keying.ts';
import { adoptOrders } from '../../store/maintenance/adopt-orders.ts';
import type { Store } from '../../store/store.ts';
import { remembers, type Witness, type WitnessPlace, witnessOf } from './witness.ts';

interface KeyingParts extends WitnessPlace {
  readonly store: Store;
}

/**
 * Keys what a store of an earlier build has without a key: its ledger, and its orders. Once that was done, this machine
 * does not do it again for a shared database: an attacker who can write only the database cannot have forged rows keyed
 * by removing the record of it. An embedded database lies in the data directory itself, where the file would protect
 * nothing.
 */
export async function beginKeying(parts: KeyingParts): Promise<void> {
  const { store } = parts;
  // It is not over while chains that a daemon of an earlier build kept open wait for their seam.
  await onceHere(parts, 'ledger', (mayAdopt) => keyLedger(store, mayAdopt));
  await beginAdoption(parts);
}

/** Answers whether it is over. */
export async function beginAdoption(parts: KeyingParts): Promise<boolean> {
  return onceHere(parts, 'orders', (mayAdopt) => adoptOrders(parts.store, mayAdopt));
}

async function onceHere(
  parts: KeyingParts,
  witness: Witness,
  work: (mayAdopt: boolean) => Promise<boolean>,
): Promise<boolean> {
  const isOver = await work(!(await remembers(parts, witness)));
  const file = witnessOf(parts, witness);
  if (file !== null && isOver) await createExclusive(file, '', PRIVATE_FILE_MODE);
  return isOver;
}
