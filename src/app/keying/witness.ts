import { access } from 'node:fs/promises';
import { join } from 'node:path';
import type { DataDirPaths } from '../../config/data-dir.ts';
import type { Settings } from '../../config/settings/settings.ts';

/** Files of the data directory that remember what was done to the shared database, whatever that says later. */
const WITNESSES = {
  /** The whole ledger has keys. */
  ledger: 'ledger.keyed',
  /** The orders of earlier builds have their tags. */
  orders: 'orders.tagged',
} as const;

export type Witness = keyof typeof WITNESSES;

export interface WitnessPlace {
  readonly paths: Pick<DataDirPaths, 'dir'>;
  readonly settings: Pick<Settings, 'databaseUrl'>;
}

/** The path of the file; null for an embedded database, which lies beside it. */
export function witnessOf({ paths, settings }: WitnessPlace, witness: Witness): string | null {
  return settings.databaseUrl === null ? null : join(paths.dir, WITNESSES[witness]);
}

/** Whether this machine remembers it. */
export async function remembers(place: WitnessPlace, witness: Witness): Promise<boolean> {
  const file = witnessOf(place, witness);
  if (file === null) return false;
  return access(file).then(
    () => true,
    () => false,
  );
}
