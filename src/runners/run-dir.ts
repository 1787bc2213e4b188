import { existsSync, lstatSync, mkdirSync } from 'node:fs';
import { rmdir } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import type { AccountIds } from '../domain/jobs/account.ts';
import { affixed, entryPath, idPartIn, type PathPart } from '../domain/path-part.ts';
import type { Clock } from '../lib/clock.ts';
import { errorCode } from '../lib/error-code.ts';
import { termDirOf } from './process/term-once.ts';
import type { Folder } from './run-files/folder.ts';
import { makeFolderOf, removeFolderOf, shareFolder } from './run-files/outer-folder.ts';
import { inOwnFolder, openOwnFolder, openOwnFolderAtOnce } from './run-files/own-folder.ts';
import { TreeRemoval } from './run-files/remove-tree.ts';
import { writeRunFile } from './run-files/run-files.ts';

/**
 * The directory of one run: working directory, HOME and TMPDIR of its programs, and removed with it. Beside it are
 * folders of the same name and a suffix, which only the service writes. All of them are in the folder of the runs, and
 * those of a run of another account in an outer folder there.
 */

/** The directory of a run is moved here before its removal, so that its programs do not know the path. */
const GONE_SUFFIX = '.gone';
/** What programs of the run may read and not change, if there is any: read-only for them, whatever its mode is. */
const INPUTS_SUFFIX = '.in';
const OUTER_SUFFIX = '.outer';
/** Of the folders beside a run directory. */
const SUFFIXES = [termDirOf(''), INPUTS_SUFFIX, GONE_SUFFIX];

const OWNER_ALL = 0o700;
const OWNER_READS = 0o600;
const GROUP_READS = 0o640;

/** The end of a job waits for the removal; what takes longer is left to the sweep. */
const REMOVE_WITHIN_MS = 60_000;

/** The path of the directory of a run of this account; null is the account of this process. */
export function runDirOf(runsDir: string, jobId: PathPart, account: AccountIds | null): string {
  return entryPath(account === null ? runsDir : outerOf(runsDir, jobId), jobId);
}

function outerOf(runsDir: string, jobId: PathPart): string {
  return entryPath(runsDir, affixed('', jobId, OUTER_SUFFIX));
}

/** The path of the directory of a run, whichever account it ran as. It may be missing. */
export function findRunDir(runsDir: string, jobId: PathPart): string {
  const outer = outerOf(runsDir, jobId);
  return entryPath(existsSync(outer) ? outer : runsDir, jobId);
}

/**
 * Makes the directory of a run and answers its path. It belongs to the account; null is the account of this process.
 * What its removal needs is made at once: when the run ends, the disk may be full.
 */
export function makeRunDir(runsDir: string, jobId: PathPart, account: AccountIds | null = null): string {
  if (account !== null) {
    const runDir = runDirOf(runsDir, jobId, account);
    makeFolderOf(account, runDir);
    return runDir;
  }
  return inOwnFolder(runsDir, (at) => {
    mkdirSync(at(jobId), { mode: OWNER_ALL });
    mkdirSync(at(affixed('', jobId, GONE_SUFFIX)), { mode: OWNER_ALL });
    return entryPath(runsDir, jobId);
  });
}

/** The folder of a run's read-only files; it is made for the first one. */
export function inputsDirOf(runDir: string): string {
  return runDir + INPUTS_SUFFIX;
}

/** Makes that folder if it does not exist, closed to other accounts; answers its path. */
export function makeInputsDir(runDir: string): string {
  const inputs = inputsDirOf(runDir);
  inOwnFolder(dirname(inputs), (at) => {
    if (!existsSync(at(basename(inputs)))) mkdirSync(at(basename(inputs)), { mode: OWNER_ALL });
  });
  return inputs;
}

/**
 * Puts a file where programs of the run can read it and can't change, replace or remove it; answers its path. Where
 * they run as another account, that account's group may read it.
 */
export async function placeInput(runDir: string, name: string, bytes: Uint8Array): Promise<string> {
  const inputs = makeInputsDir(runDir);
  const { uid, gid } = lstatSync(runDir);
  const isOwn = uid === process.geteuid?.();
  if (!isOwn) shareFolder({ uid, gid }, inputs);
  await writeRunFile(inputs, name, bytes, isOwn ? OWNER_READS : GROUP_READS);
  return `${inputs}/${name}`;
}

/** The job that an entry of the runs' folder belongs to, by its name; null for an entry of no job. */
export function jobIdOf(entry: string): PathPart | null {
  const suffix = [...SUFFIXES, OUTER_SUFFIX].find((each) => entry.endsWith(each)) ?? '';
  const id = entry.slice(0, entry.length - suffix.length);
  return idPartIn('job', id);
}

/**
 * Removes it with all that is in it. False when something is left: a process that could not be ended still writes
 * there, a file belongs to another account, or it took too long. Processes may change the tree at the same
 * time: nothing outside it is removed or changed, see TreeRemoval.
 */
export async function removeRunDir(runDir: string, clock: Clock, withinMs = REMOVE_WITHIN_MS): Promise<boolean> {
  const until = clock.monotonic() + withinMs;
  const isOver = (): boolean => clock.monotonic() >= until;
  const name = basename(runDir);
  if (await removedEmpty(runDir)) return true;
  if (isInOuter(runDir)) return removeFolderOf(runDir, isOver);
  try {
    await using runs = await openOwnFolder(dirname(runDir));
    if (!(await removed(runs, name, isOver))) return false;
    await runs.removeFolder(name + GONE_SUFFIX);
    return true;
  } catch {
    return false;
  }
}

function isInOuter(runDir: string): boolean {
  return dirname(runDir).endsWith(OUTER_SUFFIX);
}

/**
 * Most runs leave nothing behind. False for one that did. What is there is looked up at once; the removals are not, as
 * each takes milliseconds on a disk that discards freed blocks immediately.
 */
async function removedEmpty(runDir: string): Promise<boolean> {
  try {
    await using folder = openOwnFolderAtOnce(dirname(runDir));
    for (const suffix of ['', ...SUFFIXES]) {
      const entry = basename(runDir) + suffix;
      if (folder.has(entry)) await folder.removeFolder(entry);
    }
    if (isInOuter(runDir)) await rmdir(dirname(runDir));
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
  await runs.makeFolder(holder, OWNER_ALL).catch((error: unknown) => {
    if (errorCode(error) !== 'EEXIST') throw error;
  });
  return await runs.folder(holder);
}
