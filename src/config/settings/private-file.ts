import { open } from 'node:fs/promises';
import { errorCode } from '../../lib/error-code.ts';
import { refuseSetting } from './refuse-setting.ts';

/** A file of settings or targets has a line for each; more is a mistake in the path. */
const BYTES_MAX = 1_048_576;
const OTHERS = 0o077;

interface OperatorFile {
  readonly text: string;
  /** For a file with a credential: throws unless it belongs to root or this user and is closed to all others. */
  readonly requirePrivate: () => void;
}

/** A file that an operator wrote. Throws invalid_argument that names the flag, never the path or the text. */
export async function readOperatorFile(flag: string, path: string): Promise<OperatorFile> {
  try {
    await using file = await open(path);
    const { uid, mode } = await file.stat();
    const { bytesRead, buffer } = await file.read({ buffer: Buffer.alloc(BYTES_MAX + 1), position: 0 });
    if (bytesRead > BYTES_MAX) return refuseSetting(flag, `the file has more than ${BYTES_MAX} bytes`);
    const requirePrivate = (): void => {
      if (uid !== 0 && uid !== process.getuid?.())
        refuseSetting(flag, 'the file holds a credential, and belongs to neither root nor the user of this process');
      if ((mode & OTHERS) !== 0)
        refuseSetting(flag, 'the file holds a credential, and other users can read or write it: chmod 600');
    };
    return { text: buffer.toString('utf8', 0, bytesRead), requirePrivate };
  } catch (error) {
    const code = errorCode(error);
    if (code === null) throw error;
    return refuseSetting(flag, `the file cannot be read: ${code}`);
  }
}
