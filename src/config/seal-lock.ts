import { readFileSync } from 'node:fs';
import { readFile, unlink } from 'node:fs/promises';
import { hostname } from 'node:os';
import { Failure } from '../domain/failure.ts';
import { createExclusive } from '../lib/atomic-file.ts';
import { holdProcess, pause, systemClock } from '../lib/clock.ts';
import { randomBytes } from '../lib/random.ts';
import { PRIVATE_FILE_MODE } from './data-dir.ts';

/** A rotation holds the lock for some milliseconds: who waits longer than this waits for one that hangs. */
const WAIT_MS = 5_000;
const RETRY_MS = 10;
const NONCE_BYTES = 8;

/** The content of a lock file. */
interface Holder {
  readonly host: string;
  readonly bootId: string;
  readonly pid: number;
  /** Tells this holding from every other one, also of the same process. */
  readonly nonce: string;
}

/** What this process holds: another file that names this process is of an earlier one with the same number. */
const HELD = new Set<string>();

/**
 * Keeps other processes from changing the key file at `path` until the result is called, by the file `<path>.lock`.
 * What a dead process of this machine left is taken away. Throws unavailable when it stays held.
 */
export async function holdKeyFile(path: string, waitMs = WAIT_MS): Promise<() => Promise<void>> {
  const lock = `${path}.lock`;
  const holder: Holder = {
    host: hostname(),
    bootId: bootId(),
    pid: process.pid,
    nonce: randomBytes(NONCE_BYTES).toString('hex'),
  };
  const text = JSON.stringify(holder);
  HELD.add(holder.nonce);
  // A command line has nothing else that would keep it alive meanwhile.
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
    `--seal-key-file: another rotation holds ${lock}: where none is running, remove that file.`,
  );
}

async function takeWithin(lock: string, text: string, waitMs: number): Promise<boolean> {
  for (const until = systemClock.monotonic() + waitMs; ; await pause(systemClock, RETRY_MS)) {
    if (await createExclusive(lock, text, PRIVATE_FILE_MODE)) return true;
    // What it removed is free now, however long that took.
    if (!(await removeOfDead(lock)) && systemClock.monotonic() >= until) return false;
  }
}

async function release(lock: string, { nonce }: Holder): Promise<void> {
  if ((await holderOf(lock))?.nonce === nonce) await unlink(lock);
  HELD.delete(nonce);
}

/**
 * Removes the lock of a process that is gone. Of those that see it at once only one may, and it must look again: else
 * the second would remove the lock that the first made then. That right is a file named after the one holding. Answers
 * whether this call removed it.
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
    // It becomes a part of a path.
    if (typeof nonce !== 'string' || !/^[0-9a-f]{16}$/.test(nonce)) return null;
    return { host, bootId, pid, nonce };
  } catch {
    return null;
  }
}

/** False where nobody can say, as for a process of another machine. */
function isDead(holder: Holder): boolean {
  if (holder.host !== hostname()) return false;
  if (holder.bootId !== bootId()) return true;
  if (holder.pid === process.pid) return !HELD.has(holder.nonce);
  if (!Number.isSafeInteger(holder.pid) || holder.pid < 1) return false;
  try {
    return !process.kill(holder.pid, 0);
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ESRCH';
  }
}

function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return 'unknown';
  }
}
