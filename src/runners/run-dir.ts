import { existsSync, lchownSync, mkdirSync, rmdirSync } from 'node:fs';
import { chmod, chown, mkdir, rmdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { AccountIds } from '../domain/jobs/account.ts';
import type { Clock } from '../lib/clock.ts';
import { errorCode } from '../lib/error-code.ts';
import { termDirOf } from './process/term-once.ts';
import { type Folder, inOwnFolder, openOwnFolder, openRunDir } from './run-files/folder.ts';
import { TreeRemoval } from './run-files/remove-tree.ts';
import { OWNER_STAYS, writeRunFile } from './run-files/run-files.ts';

/**
 * The directory of one run: working directory, HOME and TMPDIR of its programs, and removed with it. Beside it are
 * folders of the same name and a suffix, which only the service writes.
 */

/** The directory of a run is moved here before its removal, so that its programs do not know the path. */
const GONE_SUFFIX = '.gone';
/** What programs of the run may read and not change, if there is any: read-only for them, whatever its mode is. */
const INPUTS_SUFFIX = '.in';
const SUFFIXES = [termDirOf(''), INPUTS_SUFFIX, GONE_SUFFIX];

/** The group may open what it knows the name of; it lists nothing. */
const GROUP_PASSES = 0o710;

/** The end of a job waits for the removal; what takes longer is left to the sweep. */
const REMOVE_WITHIN_MS = 60_000;

/**
 * With an owner, the directory belongs to that account; otherwise to the account of this process. What belongs to it is
 * made at once: when the run ends, the disk may be full.
 */
export function makeRunDir(runsDir: string, jobId: string, owner: AccountIds | null = null): string {
  return inOwnFolder(runsDir, (at) => {
    mkdirSync(at(jobId), { mode: 0o700 });
    if (owner !== null) lchownSync(at(jobId), owner.uid, owner.gid);
    mkdirSync(at(jobId + GONE_SUFFIX), { mode: 0o700 });
    return `${runsDir}/${jobId}`;
  });
}

/** The folder of a run's read-only files; it is made for the first one. */
export function inputsDirOf(runDir: string): string {
  return runDir + INPUTS_SUFFIX;
}

/** Makes that folder if need be, closed to everybody but the service; answers its path. */
export function makeInputsDir(runDir: string): string {
  const inputs = inputsDirOf(runDir);
  inOwnFolder(dirname(inputs), (at) => {
    if (!existsSync(at(basename(inputs)))) mkdirSync(at(basename(inputs)), { mode: 0o700 });
  });
  return inputs;
}

/**
 * Puts a file where programs of the run can read it and can't change, replace or remove it; answers its path. Where
 * they run as another account, that account's group may read it.
 */
export async function placeInput(runDir: string, name: string, bytes: Uint8Array): Promise<string> {
  const inputs = makeInputsDir(runDir);
  await using run = await openRunDir(runDir);
  const { uid, gid } = await run.stats();
  const readers = uid === process.geteuid?.() ? null : gid;
  if (readers !== null) {
    await using folder = await openRunDir(inputs);
    await chown(folder.self, OWNER_STAYS, readers);
    await chmod(folder.self, GROUP_PASSES);
  }
  await writeRunFile(inputs, name, bytes, readers);
  return join(inputs, name);
}

/** The job that an entry of the runs' folder belongs to, by its name. */
export function jobIdOf(entry: string): string {
  const suffix = SUFFIXES.find((each) => entry.endsWith(each)) ?? '';
  return entry.slice(0, entry.length - suffix.length);
}

/**
 * Removes it with all that is in it. False when something is left: a process that could not be ended still writes
 * there, a file belongs to another account, or it took too long. Processes may change the tree at the same
 * time: nothing outside it is removed or changed, see TreeRemoval.
 */
export async function removeRunDir(runDir: string, clock: Clock, withinMs = REMOVE_WITHIN_MS): Promise<boolean> {
  const until = clock.monotonic() + withinMs;
  const name = basename(runDir);
  if (removedEmpty(runDir)) return true;
  try {
    await using runs = await openOwnFolder(dirname(runDir));
    if (!(await removed(runs, name, () => clock.monotonic() >= until))) return false;
    await rmdir(runs.at(name + GONE_SUFFIX));
    return true;
  } catch {
    return false;
  }
}

/** Most runs leave nothing behind. False for one that did. */
function removedEmpty(runDir: string): boolean {
  try {
    inOwnFolder(dirname(runDir), (at) => {
      for (const suffix of ['', ...SUFFIXES]) {
        const entry = at(basename(runDir) + suffix);
        if (existsSync(entry)) rmdirSync(entry);
      }
    });
    return true;
  } catch {
    return false;
  }
}

async function removed(runs: Folder, name: string, isOver: () => boolean): Promise<boolean> {
  await using holder = await openHolder(runs, name);
  const removal = new TreeRemoval(holder, isOver);
  let taken = true;
  for (const entry of [termDirOf(name), inputsDirOf(name), name]) taken = (await removal.take(runs, entry)) && taken;
  return (await removal.empty()) && taken;
}

async function openHolder(runs: Folder, name: string): Promise<Folder> {
  const holder = name + GONE_SUFFIX;
  await mkdir(runs.at(holder), { mode: 0o700 }).catch((error: unknown) => {
    if (errorCode(error) !== 'EEXIST') throw error;
  });
  return await runs.folder(holder);
}
