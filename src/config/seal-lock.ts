import { readFile, unlink } from 'node:fs/promises';
import { hostname } from 'node:os';
import { Failure } from '../domain/failure.ts';
import { createExclusive } from '../lib/atomic-file.ts';
import { bootId } from '../lib/boot-id.ts';
import { errorCode } from '../lib/error-code.ts';
import { holdProcess, pause, systemClock } from '../lib/clock.ts';
import { randomName } from '../lib/random.ts';
import { PRIVATE_FILE_MODE } from './data-dir.ts';

/** A rotation holds the lock for some milliseconds; a longer wait means that the holder hangs. */
const WAIT_MS = 5_000;
const RETRY_MS = 10;

/** The content of a lock file. */
interface Holder {
  readonly host: string;
  readonly bootId: string;
  readonly pid: number;
  /** Distinguishes this holder from all others, also in the same process. */
  readonly nonce: string;
}

/** The locks of this process: any other file with this pid is of an earlier process with the same number. */
const HELD = new Set<string>();

/**
 * Keeps other processes from changing the key file at `path` until the result is called, by the file `<path>.lock`. A
 * lock of a dead process of this machine is removed. Throws unavailable when the lock stays held.
 */
export async function holdKeyFile(path: string, waitMs = WAIT_MS): Promise<() => Promise<void>> {
  const lock = `${path}.lock`;
  const holder: Holder = { host: hostname(), bootId: bootId(), pid: process.pid, nonce: randomName() };
  const text = JSON.stringify(holder);
  HELD.add(holder.nonce);
  // Nothing else keeps a command-line process alive during the wait.
  const awake = holdProcess();
  let held = false;
  try {
    held = await takeWithin(lock, text, waitMs);
  } finally {
    awake();
    if (!held) HELD.delete(holder.nonce);
  }
  if (held) return () => release(lock, holder);
  throw new Failure(
    'unavailable',
    `--seal-key-file: another rotation holds ${lock}; if none is running, remove that file.`,
  );
}

async function takeWithin(lock: string, text: string, waitMs: number): Promise<boolean> {
  for (const until = systemClock.monotonic() + waitMs; ; await pause(systemClock, RETRY_MS)) {
    if (await createExclusive(lock, text, PRIVATE_FILE_MODE)) return true;
    // The dead lock is gone: try again even after the deadline.
    if (!(await removeOfDead(lock)) && systemClock.monotonic() >= until) return false;
  }
}

async function release(lock: string, { nonce }: Holder): Promise<void> {
  if ((await holderOf(lock))?.nonce === nonce) await unlink(lock);
  HELD.delete(nonce);
}

/**
 * Removes the lock of a dead process. Of several processes that see it, only one may, and it must check again;
 * otherwise the second would remove the new lock of the first. The claim is a file named after the dead holder. Returns
 * whether this call removed the lock.
 */
async function removeOfDead(lock: string): Promise<boolean> {
  const holder = await holderOf(lock);
  if (holder === null || !isDead(holder)) return false;
  const right = `${lock}.${holder.nonce}`;
  if (!(await createExclusive(right, '', PRIVATE_FILE_MODE))) return false;
  try {
    if ((await holderOf(lock))?.nonce !== holder.nonce) return false;
    await unlink(lock);
    return true;
  } finally {
    await unlink(right);
  }
}

async function holderOf(lock: string): Promise<Holder | null> {
  try {
    const holder = JSON.parse(await readFile(lock, 'utf8')) as Partial<Holder> | null;
    const { host, bootId, pid, nonce } = holder ?? {};
    if (typeof host !== 'string' || typeof bootId !== 'string' || typeof pid !== 'number') return null;
    // It becomes part of a path.
    if (typeof nonce !== 'string' || !/^[0-9a-f]{16}$/.test(nonce)) return null;
    return { host, bootId, pid, nonce };
  } catch {
    return null;
  }
}

/** False where this is unknown, as for a process of another machine. */
function isDead(holder: Holder): boolean {
  if (holder.host !== hostname()) return false;
  if (holder.bootId !== bootId()) return true;
  if (holder.pid === process.pid) return !HELD.has(holder.nonce);
  if (!Number.isSafeInteger(holder.pid) || holder.pid < 1) return false;
  try {
    return !process.kill(holder.pid, 0);
  } catch (error) {
    return errorCode(error) === 'ESRCH';
  }
}
