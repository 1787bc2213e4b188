import { formatDuration } from '../../../domain/duration.ts';
import { mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../../domain/failure.ts';
import { errorCode } from '../../../lib/error-code.ts';
import { pause, systemClock, type Clock } from '../../../lib/clock.ts';
import { DEFAULT_PATH } from '../../process/environment.ts';
import type { Guard } from '../../process/guard.ts';
import type { Launcher } from '../../launch/launch.ts';
import { COPY_LIMITS, type CopyLimits } from '../copy-tree.ts';
import { sizeOf } from '../../run-files/folder-size.ts';
import { reachOf } from './access.ts';
import { collect, type Git, runGit } from './process.ts';
import { readObjects } from './objects.ts';
import { listTree, writeTree } from './tree.ts';
import { type GitFolders, type GitPlace, makeGitFolders } from './place.ts';
import { checkGitRef, checkGitUrl, GIT_PROTOCOLS } from './url.ts';

export interface FetchLimits extends CopyLimits {
  /** Of the whole fetch, in milliseconds. */
  readonly timeoutMs: number;
  /** What git may put on the disk: packs, before they are looked into. */
  readonly packBytes: number;
}

/** The limits of the copy of a run; a person does not wait longer for a fetch. */
export const FETCH_LIMITS: FetchLimits = { ...COPY_LIMITS, timeoutMs: 120_000, packBytes: 512 * 1024 * 1024 };
/** The interval in which the size of git's folder is measured, in milliseconds. */
const LOOK_EVERY_MS = 200;
/** Git writes one pack and its index. A folder with more in it was not made by git. */
const MADE = { entries: 1_000, depth: 16 };

interface FetchGitOptions {
  readonly url: string;
  /** A branch, a tag or a commit; null is the default branch. */
  readonly ref: string | null;
  /** An empty folder of the caller, which removes it in any case. */
  readonly into: string;
  /** Starts git in the sandbox. */
  readonly launcher: Launcher;
  /** As whom and where git works unless it needs ssh; by default as this process, in `into`. */
  readonly place?: GitPlace | null;
  /** Ends git when this process is killed; without it git continues. */
  readonly guard?: Guard | null;
  readonly limits?: FetchLimits;
  readonly searchPath?: string;
  readonly clock?: Clock;
  /** Aborts an unwanted fetch: git is ended with all of its processes. */
  readonly signal?: AbortSignal | undefined;
  /** For tests, which bring repositories as files. */
  readonly protocols?: readonly string[];
}

/**
 * Fetches one commit without its history and writes its files, as they are stored, to `<into>/tree`. Git checks nothing
 * out, so no filter, hook, attribute or submodule of the repository takes effect. Git runs in the sandbox and writes
 * one folder only. Throws Failure: invalid_argument for an invalid URL or ref; conflict with the repository's fault;
 * unavailable with the message of git, without git, sandbox or room on the disk, or when the signal is aborted.
 */
export async function fetchGit(options: FetchGitOptions): Promise<{ readonly commit: string; readonly tree: string }> {
  const { url, into, limits = FETCH_LIMITS, clock = systemClock, protocols = GIT_PROTOCOLS } = options;
  const ref = options.ref ?? 'HEAD';
  if (!isOfTest(url, protocols)) checkGitUrl(url);
  checkGitRef(ref);
  const over = new AbortController();
  const stop = (): void => over.abort(new Failure('unavailable', 'git: the fetch was stopped.'));
  options.signal?.addEventListener('abort', stop, { once: true });
  if (options.signal?.aborted === true) stop();
  const cancel = clock.after(limits.timeoutMs, () =>
    over.abort(new Failure('unavailable', `git: the fetch took longer than ${formatDuration(limits.timeoutMs)}.`)),
  );
  const { searchPath = DEFAULT_PATH, launcher } = options;
  let folders: GitFolders | null = null;
  try {
    // The keys of ssh belong to the account of this process, and another one cannot read them.
    const jobs = options.place ?? null;
    const place = isSsh(url) ? null : jobs;
    folders = await makeGitFolders(into, place, clock);
    const git: Git = {
      ...folders,
      launcher,
      clock,
      searchPath,
      protocols,
      account: place?.account ?? null,
      needsOwnAccount: jobs !== null && place === null,
      guard: options.guard ?? null,
      signal: over.signal,
    };
    const reach = await reachOf(url, searchPath);
    await within(git, limits.packBytes, over, () =>
      runGit(
        git,
        ['fetch', '--quiet', '--no-progress', '--no-tags', '--depth=1', '--no-recurse-submodules', '--', url, ref],
        reach,
        collect,
      ),
    );
    return await readCommit(git, into, ref, limits);
  } catch (error) {
    throw asRefusal(error);
  } finally {
    cancel();
    options.signal?.removeEventListener('abort', stop);
    over.abort();
    await folders?.remove();
  }
}

function isSsh(url: string): boolean {
  return url.startsWith('ssh:') || !url.includes('://');
}

function isOfTest(url: string, protocols: readonly string[]): boolean {
  return (
    (protocols.includes('file') && url.startsWith('file:///')) ||
    (protocols.includes('http') && url.startsWith('http://127.0.0.1:'))
  );
}

async function readCommit(
  git: Git,
  into: string,
  ref: string,
  limits: FetchLimits,
): Promise<{ commit: string; tree: string }> {
  const stored = join(into, 'contents');
  const objects = await readObjects(git, stored, limits);
  const { commit } = objects;
  // A branch may be named like a commit: for a commit no other one is accepted.
  if (/^[0-9a-f]{40,64}$/.test(ref) && commit !== ref)
    throw new Failure('conflict', `git: the server sent another commit than ${ref}.`);
  const tree = join(into, 'tree');
  await mkdir(tree, { mode: 0o700 });
  const contents = await open(stored, 'r');
  try {
    await writeTree(await listTree(objects, limits, git.signal), objects, { contents, tree, signal: git.signal });
  } finally {
    await contents.close();
  }
  return { commit, tree };
}

/** A fault of the repository keeps its message; of a system error only the code is shown. */
function asRefusal(error: unknown): unknown {
  if (error instanceof Failure || !(error instanceof Error)) return error;
  const code = errorCode(error);
  return code === null
    ? new Failure('conflict', error.message)
    : new Failure('unavailable', `The files cannot be written (${code}).`);
}

/** Ends the work when the folder grows beyond the limit. */
async function within(
  { work: folder, clock }: Git,
  limitBytes: number,
  over: AbortController,
  work: () => Promise<unknown>,
): Promise<void> {
  const done = new AbortController();
  const watching = (async () => {
    while (await pause(clock, LOOK_EVERY_MS, done.signal)) {
      if ((await sizeOf(folder, MADE)) > limitBytes) over.abort(tooLarge(limitBytes));
    }
  })();
  try {
    await work();
    if ((await sizeOf(folder, MADE)) > limitBytes) throw tooLarge(limitBytes);
  } finally {
    done.abort();
    await watching;
  }
}

function tooLarge(limitBytes: number): Failure {
  return new Failure('conflict', `git: the repository has more than ${limitBytes} bytes.`);
}
