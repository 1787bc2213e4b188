import { hash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { Failure } from '../domain/failure.ts';
import { createExclusive } from '../lib/atomic-file.ts';
import { errorCode } from '../lib/error-code.ts';
import { randomBytes } from '../lib/random.ts';
import { isOpenToOthers, isOurs, modeText, PRIVATE_FILE_MODE } from './data-dir.ts';

const KEY_BYTES = 32;
const VERSION = 'gatehouse-seal-1';
/** Hex digits of the check sum: enough that a torn or altered line is not taken for another key. */
const CHECK_DIGITS = 16;
const LINE = new RegExp(`^${VERSION} ([A-Za-z0-9+/]{43}=) ([0-9a-f]{${CHECK_DIGITS}})\n$`);
/** The one line has 79 bytes; what is longer is another file, and is not read further. */
const READ_MAX_BYTES = 256;

/** What is wrong with a seal key file, in words that need no path. */
export type SealKeyFault = 'missing' | 'unreadable' | 'not a file' | 'foreign' | 'open to others' | 'torn';

export type SealKeyState =
  | { readonly ok: true; readonly key: Buffer; readonly mode: string }
  | { readonly ok: false; readonly fault: SealKeyFault; readonly reason: string };

/**
 * The seal key in the file at `path`: 32 random bytes, kept as one line `gatehouse-seal-1 <base64> <check sum>` with
 * mode 0600. Without a file one is made; of processes that start at once all get the same key.
 *
 * `storeNeedsKey` is asked when there is no file: true when the store holds what only the lost key opens, such as active
 * tokens. Then a new key would lock everybody out without a word, so that is refused. Open the store before the key,
 * and answer from it.
 *
 * Throws invalid_argument that names the file and what to do. A torn, empty or foreign file, or one that others may
 * read, is never replaced.
 */
export async function loadOrCreateSealKey(path: string, storeNeedsKey: () => boolean | Promise<boolean>): Promise<Buffer> {
  const found = await readSealKey(path);
  if (found.ok) return found.key;
  if (found.fault !== 'missing') throw refusal(path, found.reason);
  const needed = await storeNeedsKey();
  if (!needed) await create(path);
  // Another process that starts at the same time may have made both the key and a token since the first look.
  const made = await readSealKey(path);
  if (made.ok) return made.key;
  throw refusal(path, needed && made.fault === 'missing' ? LOST : made.reason);
}

const LOST =
  'is missing, and the store holds what only that key opens: put the key back, from a backup or from where it was before, or use a new data directory';

function refusal(path: string, reason: string): Failure {
  return new Failure('invalid_argument', `--seal-key-file: ${path} ${reason}.`);
}

/** Looks at the file and changes nothing. Never rejects. */
export async function readSealKey(path: string): Promise<SealKeyState> {
  let file: FileHandle;
  try {
    // Without O_NONBLOCK a named pipe would hold the start up for ever.
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    return unopened(error);
  }
  try {
    return await inspect(file);
  } catch (error) {
    return { ok: false, fault: 'unreadable', reason: `can not be read (${codeOf(error)})` };
  } finally {
    await file.close();
  }
}

async function create(path: string): Promise<void> {
  try {
    await createExclusive(path, formatSealKey(randomBytes(KEY_BYTES)), PRIVATE_FILE_MODE);
  } catch (error) {
    throw new Failure('invalid_argument', `--seal-key-file: ${path} can not be made (${codeOf(error)}).`);
  }
}

/** The text of a key file. */
export function formatSealKey(key: Uint8Array): string {
  return `${VERSION} ${Buffer.from(key).toString('base64')} ${checkSum(key)}\n`;
}

function checkSum(key: Uint8Array): string {
  return hash('sha256', Buffer.concat([Buffer.from(`${VERSION} `), key])).slice(0, CHECK_DIGITS);
}

function unopened(error: unknown): SealKeyState {
  const code = codeOf(error);
  if (code !== 'ENOENT') return { ok: false, fault: 'unreadable', reason: `can not be opened (${code})` };
  return { ok: false, fault: 'missing', reason: 'is missing' };
}

async function inspect(file: FileHandle): Promise<SealKeyState> {
  const stats = await file.stat();
  if (!stats.isFile()) return { ok: false, fault: 'not a file', reason: 'is not a regular file' };
  if (!isOurs(stats) && stats.uid !== 0) {
    return { ok: false, fault: 'foreign', reason: `belongs to user ${stats.uid}, who could change it` };
  }
  if (isOpenToOthers(stats.mode)) {
    const mode = modeText(stats.mode);
    return { ok: false, fault: 'open to others', reason: `has mode ${mode}, so that others may read it: set it to 0600` };
  }
  const buffer = Buffer.alloc(READ_MAX_BYTES);
  const { bytesRead } = await file.read(buffer, 0, READ_MAX_BYTES, 0);
  const key = parse(buffer.toString('latin1', 0, bytesRead));
  if (key !== null) return { ok: true, key, mode: modeText(stats.mode) };
  const what = bytesRead === 0 ? 'is empty' : 'is torn or altered, or of a newer build';
  return { ok: false, fault: 'torn', reason: `${what}: put the key back from a backup` };
}

function parse(text: string): Buffer | null {
  const match = LINE.exec(text);
  if (match === null) return null;
  const key = Buffer.from(match[1] ?? '', 'base64');
  return key.length === KEY_BYTES && checkSum(key) === match[2] ? key : null;
}

function codeOf(error: unknown): string {
  return errorCode(error) ?? 'unknown error';
}
