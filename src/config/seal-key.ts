import { hash } from 'node:crypto';
import { type BigIntStats, constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { Failure } from '../domain/failure.ts';
import { createExclusive } from '../lib/atomic-file.ts';
import { errorCode, wordsOfCode } from '../lib/error-code.ts';
import { openingForRoot } from '../lib/files/closed.ts';
import { randomBytes } from '../lib/random.ts';
import type { SealFileKey } from '../lib/seal.ts';
import { isOpenToOthers, isOurs, modeText, PRIVATE_FILE_MODE } from './data-dir.ts';
import { openFault } from './settings/deciding-files.ts';

const KEY_BYTES = 32;
const VERSION = 'gatehouse-seal-1';
/** Hex digits of the checksum: enough that a torn or altered line is not read as another key. */
const CHECK_DIGITS = 16;
const LINE = new RegExp(`^${VERSION} ([A-Za-z0-9+/]{43}=) ([0-9a-f]{${CHECK_DIGITS}})$`);
/** A key that a rotation added. Its checksum covers that of the previous line, so that a missing line is noticed. */
const ADDED_VERSION = 'gatehouse-seal-2';
const ADDED_LINE = new RegExp(
  `^${ADDED_VERSION} ([A-Za-z0-9+/]{43}=) (0|[1-9][0-9]{0,15}) ([0-9a-f]{${CHECK_DIGITS}})$`,
);
/** Five years of monthly rotations. Without a limit, a wrong file could not be recognised by its size. */
export const SEAL_KEYS_MAX = 64;
/** 64 lines of at most 97 bytes are some 6,200; a longer file is not a key file and is not read further. */
const READ_MAX_BYTES = 16_384;

/** The faults of a seal key file; `reason` continues a sentence that begins with its path. */
type SealKeyFault = 'missing' | 'unreadable' | 'not a file' | 'foreign' | 'open to others' | 'torn';

/** `key` is the first one, which never changes: it also keys the hashes of tokens. `stamp` changes with the file. */
export interface SealKeys {
  readonly ok: true;
  readonly key: Buffer;
  readonly keys: readonly SealFileKey[];
  readonly stamp: string;
  readonly text: string;
  readonly mode: string;
}

type SealKeyState = SealKeys | { readonly ok: false; readonly fault: SealKeyFault; readonly reason: string };

/**
 * The first seal key in the file at `path`: 32 random bytes, kept as a line `gatehouse-seal-1 <base64> <check sum>`
 * with mode 0600; rotations append lines. A missing file is created; processes that start at the same time all get the
 * same key.
 *
 * `storeNeedsKey` is called when the file is missing: true when the store holds data that only the lost key opens, such
 * as active tokens, or when a daemon on a shared database has the key. A new key would then lock out every user
 * silently, so the call is refused. Open the store before the key.
 *
 * Throws invalid_argument that names the file and the remedy. A torn, empty, foreign or world-readable file is never
 * replaced.
 */
export async function loadOrCreateSealKey(
  path: string,
  storeNeedsKey: () => boolean | Promise<boolean>,
): Promise<Buffer> {
  return (await loadOrCreateSealKeys(path, storeNeedsKey)).key;
}

/** As `loadOrCreateSealKey`, with all keys of the file. */
export async function loadOrCreateSealKeys(
  path: string,
  storeNeedsKey: () => boolean | Promise<boolean>,
): Promise<SealKeys> {
  const found = await readSealKey(path);
  if (found.ok) return found;
  if (found.fault !== 'missing') throw refusal(path, found.reason);
  const needed = await storeNeedsKey();
  if (!needed) await create(path);
  // Another starting process may have created both the key and a token since the first check.
  const made = await readSealKey(path);
  if (made.ok) return made;
  throw refusal(path, needed && made.fault === 'missing' ? LOST : made.reason);
}

const LOST =
  'is missing, and the store is in use with that key: copy the file from the daemon that created it, or put it back ' +
  'from a backup; a new service needs a new data directory, or another database';

export function refusal(path: string, reason: string): Failure {
  return new Failure('invalid_argument', `--seal-key-file: ${path} ${reason}.`);
}

/**
 * Checks the file without changing it. For root it is also at fault where another account can change it. Never rejects.
 */
export async function readSealKey(path: string): Promise<SealKeyState> {
  const opening = openingForRoot(path);
  const state = await readFrom(path);
  if (opening === null || (!state.ok && state.fault !== 'missing')) return state;
  return { ok: false, fault: 'open to others', reason: openFault(path, opening) };
}

async function readFrom(path: string): Promise<SealKeyState> {
  let file: FileHandle;
  try {
    // Without O_NONBLOCK a named pipe would block the start for ever.
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    return unopened(error);
  }
  try {
    return await inspect(file);
  } catch (error) {
    return { ok: false, fault: 'unreadable', reason: `cannot be read: ${wordsOfCode(codeOf(error))}` };
  } finally {
    await file.close();
  }
}

async function create(path: string): Promise<void> {
  try {
    await createExclusive(path, formatSealKey(randomBytes(KEY_BYTES)), PRIVATE_FILE_MODE);
  } catch (error) {
    throw new Failure('invalid_argument', `--seal-key-file: ${path} cannot be created: ${wordsOfCode(codeOf(error))}.`);
  }
}

/** The text of a new key file. */
export function formatSealKey(key: Uint8Array): string {
  return `${VERSION} ${Buffer.from(key).toString('base64')} ${checkSum(key)}\n`;
}

/** The text of a valid key file with another key appended. */
export function appendSealKey(
  text: string,
  { key, createdAt }: { readonly key: Uint8Array; readonly createdAt: number },
): string {
  const before = text.trimEnd().slice(-CHECK_DIGITS);
  return (
    `${text}${ADDED_VERSION} ${Buffer.from(key).toString('base64')} ${createdAt} ` +
    `${checkSumOfAdded(before, String(createdAt), key)}\n`
  );
}

function checkSum(key: Uint8Array): string {
  return hash('sha256', Buffer.concat([Buffer.from(`${VERSION} `), key])).slice(0, CHECK_DIGITS);
}

function checkSumOfAdded(before: string, createdAt: string, key: Uint8Array): string {
  return hash('sha256', Buffer.concat([Buffer.from(`${ADDED_VERSION} ${before} ${createdAt} `), key])).slice(
    0,
    CHECK_DIGITS,
  );
}

function unopened(error: unknown): SealKeyState {
  const code = codeOf(error);
  if (code !== 'ENOENT') return { ok: false, fault: 'unreadable', reason: `cannot be opened: ${wordsOfCode(code)}` };
  return { ok: false, fault: 'missing', reason: 'is missing' };
}

async function inspect(file: FileHandle): Promise<SealKeyState> {
  const stats = await file.stat({ bigint: true });
  const owner = { uid: Number(stats.uid) };
  if (!stats.isFile()) return { ok: false, fault: 'not a file', reason: 'is not a regular file' };
  if (!isOurs(owner) && owner.uid !== 0) {
    return { ok: false, fault: 'foreign', reason: `belongs to user ${owner.uid}; expected the user of this process` };
  }
  const mode = modeText(Number(stats.mode));
  if (isOpenToOthers(Number(stats.mode))) {
    return {
      ok: false,
      fault: 'open to others',
      reason: `has mode ${mode}, so that others can read it: set it to 0600`,
    };
  }
  const buffer = Buffer.alloc(READ_MAX_BYTES);
  const { bytesRead } = await file.read(buffer, 0, READ_MAX_BYTES, 0);
  const text = buffer.toString('latin1', 0, bytesRead);
  const keys = parse(text);
  const [first] = keys ?? [];
  if (keys !== null && first !== undefined) {
    return { ok: true, key: first.key, keys, stamp: stampOf(stats), text, mode };
  }
  const what = bytesRead === 0 ? 'is empty' : 'is torn or altered, or of a newer build';
  return { ok: false, fault: 'torn', reason: `${what}: put the key back from a backup` };
}

/** Identifies content, owner and mode of a file without reading it. */
export function stampOf({ ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [ino, size, mtimeNs, ctimeNs].join('.');
}

/** All keys, the oldest first; null if any byte was altered. */
function parse(text: string): { key: Buffer; createdAt: number | null }[] | null {
  if (!text.endsWith('\n')) return null;
  const [firstLine = '', ...addedLines] = text.slice(0, -1).split('\n');
  if (addedLines.length >= SEAL_KEYS_MAX) return null;
  const first = LINE.exec(firstLine);
  const root = decode(first?.[1]);
  if (root === null || checkSum(root) !== first?.[2]) return null;
  const keys: { key: Buffer; createdAt: number | null }[] = [{ key: root, createdAt: null }];
  let before = first[2];
  for (const line of addedLines) {
    const [, base64, createdAt = '', sum = ''] = ADDED_LINE.exec(line) ?? [];
    const key = decode(base64);
    if (key === null || checkSumOfAdded(before, createdAt, key) !== sum) return null;
    keys.push({ key, createdAt: Number(createdAt) });
    before = sum;
  }
  return keys;
}

/** Null for an invalid key and for a second spelling of a valid one: decoding drops bits of the last digit. */
function decode(base64 = ''): Buffer | null {
  const key = Buffer.from(base64, 'base64');
  return key.length === KEY_BYTES && key.toString('base64') === base64 ? key : null;
}

function codeOf(error: unknown): string {
  return errorCode(error) ?? 'unknown error';
}
