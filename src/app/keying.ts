import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { PRIVATE_FILE_MODE } from '../config/data-dir.ts';
import { createExclusive } from '../lib/atomic-file.ts';
import { keyLedger } from '../store/audit/keying.ts';
import type { Base } from './base.ts';

/** Remembers, in the data directory, that the whole ledger of the shared database has keys. */
const WITNESS = 'ledger.keyed';

interface KeyingParts extends Pick<Base, 'store'> {
  readonly paths: Pick<Base['paths'], 'dir'>;
  readonly settings: Pick<Base['settings'], 'databaseUrl'>;
}

/**
 * Keys the ledger of a store of an earlier build. Once that was done, this machine does not do it again for a shared
 * database: an attacker who can write only the database cannot have forged rows keyed by removing the record of it. An
 * embedded database lies in the data directory itself, where the file would protect nothing.
 */
export async function beginKeying({ store, paths, settings }: KeyingParts): Promise<void> {
  const file = settings.databaseUrl === null ? null : join(paths.dir, WITNESS);
  const isWhole = await keyLedger(store, file === null || !(await exists(file)));
  // Not before: chains that a daemon of an earlier build kept open still wait for their seam.
  if (file !== null && isWhole) await createExclusive(file, '', PRIVATE_FILE_MODE);
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
