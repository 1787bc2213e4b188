import { access } from 'node:fs/promises';
import { join } from 'node:path';
import type { DataDirPaths } from '../config/data-dir.ts';
import type { Settings } from '../config/settings/settings.ts';

/** Remembers, in the data directory, that the whole ledger of the shared database has keys. */
export const LEDGER_WITNESS = 'ledger.keyed';
/** The same of the orders of earlier builds: they have their tags. */
export const ORDERS_WITNESS = 'orders.tagged';

export interface WitnessPlace {
  readonly paths: Pick<DataDirPaths, 'dir'>;
  readonly settings: Pick<Settings, 'databaseUrl'>;
}

/** The path of the file; null for an embedded database, which lies beside it. */
export function witnessOf({ paths, settings }: WitnessPlace, name: string): string | null {
  return settings.databaseUrl === null ? null : join(paths.dir, name);
}

/** Whether this machine remembers it. */
export async function remembers(place: WitnessPlace, name: string): Promise<boolean> {
  const file = witnessOf(place, name);
  if (file === null) return false;
  return access(file).then(
    () => true,
    () => false,
  );
}
