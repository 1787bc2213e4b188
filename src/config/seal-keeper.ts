import type { SealKeeper } from '../lib/seal.ts';

const refuse = (): never => {
  throw new Error('sealing is not built yet');
};

/** Not built yet. */
export function createSealKeeper(_path: string, _storeNeedsKey: () => Promise<boolean>): SealKeeper {
  return { keyring: refuse, rotate: refuse };
}
