import { readBackupHead, type BackupHead } from '../../domain/backups/head.ts';
import { Failure } from '../../domain/failure.ts';
import { errorCode } from '../../lib/error-code.ts';
import type { Keyring } from '../../lib/seal.ts';
import { SealedFileBroken } from '../../lib/sealed-file/format.ts';
import { openSealedFile, type SealedFile } from '../../lib/sealed-file/read.ts';

/** An open backup whose digest was checked and whose head was opened. */
export interface BackupFile extends Pick<SealedFile, 'sizeBytes' | 'sha256'> {
  readonly head: BackupHead;
  /** As SealedFile.content; throws Failure. */
  content(take: (content: AsyncIterable<Buffer>) => Promise<void>): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens the backup at `path`; `what` names it in messages, and `keyPlace` the key file. Throws not_found, and conflict
 * for a file that is damaged, altered, of another key or no backup, saying which.
 */
export async function openBackup(
  path: string,
  ring: Keyring,
  { what, keyPlace }: { readonly what: string; readonly keyPlace: string },
): Promise<BackupFile> {
  const refused = (error: unknown): unknown => explain(error, what, keyPlace);
  let file: SealedFile;
  try {
    file = await openSealedFile(path);
  } catch (error) {
    throw refused(error);
  }
  try {
    const head = readBackupHead(await file.head(ring));
    if (head === null || head.id !== file.id) throw new SealedFileBroken('not one');
    return {
      sizeBytes: file.sizeBytes,
      sha256: file.sha256,
      head,
      content: (take) =>
        file.content(ring, take).catch((error: unknown) => {
          throw refused(error);
        }),
      close: () => file.close(),
    };
  } catch (error) {
    await file.close();
    throw refused(error);
  }
}

function explain(error: unknown, what: string, keyPlace: string): unknown {
  if (error instanceof SealedFileBroken) {
    if (error.fault !== 'unknown key')
      return new Failure('conflict', `Integrity: ${what} cannot be used: ${error.message}.`);
    const key = `${what} was sealed with key ${error.keyId ?? 'unknown'}, which is not in ${keyPlace}`;
    return new Failure('conflict', `${key}; name the file that holds it with --seal-key-file.`);
  }
  const code = errorCode(error);
  if (code === 'ENOENT' || code === 'ENOTDIR') return new Failure('not_found', `There is no file ${what}.`);
  // From where the content is written: reading needs no room.
  const isForeign = code === 'ENOSPC' || code === 'EDQUOT';
  return code === null || isForeign || error instanceof Failure
    ? error
    : new Failure('unavailable', `${what} cannot be read: ${code}.`);
}
