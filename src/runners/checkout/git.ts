import { mkdir, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../domain/failure.ts';
import { errorCode } from '../../lib/error-code.ts';
import { pause, systemClock, type Clock } from '../../lib/clock.ts';
import { DEFAULT_PATH } from '../process/environment.ts';
import { COPY_LIMITS, type CopyLimits } from './copy-tree.ts';
import { collect, type Git, runGit } from './git-process.ts';
import { listTree, writeTree } from './git-tree.ts';
import { checkGitRef, checkGitUrl, GIT_PROTOCOLS } from './git-url.ts';

export interface FetchLimits extends CopyLimits {
  /** Of the whole fetch, in milliseconds. */
  readonly timeoutMs: number;
  /** What git may put on the disk: packs, before they are looked into. */
  readonly packBytes: number;
}

/** As much as a run would copy, and no fetch that a person would not wait for. */
export const FETCH_LIMITS: FetchLimits = { ...COPY_LIMITS, timeoutMs: 120_000, packBytes: 512 * 1024 * 1024 };
/** How often what git has written is measured, in milliseconds. */
const LOOK_EVERY_MS = 200;

export interface FetchGitOptions {
  readonly url: string;
  /** A branch, a tag or a commit; null is the default branch. */
  readonly ref: string | null;
  /** An empty folder of the caller's own; who calls removes it, whatever the end is. */
  readonly into: string;
  readonly limits?: FetchLimits;
  readonly searchPath?: string;
  readonly clock?: Clock;
  /** Aborted where nobody wants it any more: git is ended with all of its processes. */
  readonly signal?: AbortSignal | undefined;
  /** For tests, which bring repositories as files. */
  readonly protocols?: readonly string[];
}

/**
 * Fetches one commit without its history, and writes its files as they are stored to `<into>/tree`: git itself checks
 * nothing out, so that no filter, hook, attribute or submodule of the repository has anything to say. Throws Failure:
 * invalid_argument for a URL or ref that is none, conflict with what is wrong in the repository, unavailable with git's
 * own words, without git, without room on the disk, or when the signal ended it.
 */
export async function fetchGit(options: FetchGitOptions): Promise<{ readonly commit: string; readonly tree: string }> {
  const { url, into, limits = FETCH_LIMITS, clock = systemClock, protocols = GIT_PROTOCOLS } = options;
  const ref = options.ref ?? 'HEAD';
  if (!(protocols.includes('file') && url.startsWith('file:///'))) checkGitUrl(url);
  checkGitRef(ref);
  const over = new AbortController();
  const gitDir = join(into, 'git');
  const home = join(into, 'home');
  const git: Git = { gitDir, home, searchPath: options.searchPath ?? DEFAULT_PATH, protocols, signal: over.signal };
  const stop = (): void => over.abort(new Failure('unavailable', 'git: the fetch was stopped.'));
  options.signal?.addEventListener('abort', stop, { once: true });
  if (options.signal?.aborted === true) stop();
  const cancel = clock.after(limits.timeoutMs, () => over.abort(new Failure('unavailable', `git: the fetch took longer than ${limits.timeoutMs / 1_000} s.`)));
  try {
    await mkdir(home, { mode: 0o700 });
    await runGit(git, ['init', '--quiet', '--bare', '--template=', '--initial-branch=none', gitDir], collect);
    await within(limits.packBytes, gitDir, clock, over, () =>
      runGit(git, ['fetch', '--quiet', '--no-tags', '--depth=1', '--no-recurse-submodules', '--', url, ref], collect),
    );
    const commit = await commitOf(git, ref);
    const entries = await listTree(git, commit, limits);
    const tree = join(into, 'tree');
    await mkdir(tree, { mode: 0o700 });
    await writeTree(git, entries, tree);
    return { commit, tree };
  } catch (error) {
    throw asRefusal(error);
  } finally {
    cancel();
    options.signal?.removeEventListener('abort', stop);
    over.abort();
  }
}

/** What the repository has is named; of the system's own words only the code, which says what to mend. */
function asRefusal(error: unknown): unknown {
  if (error instanceof Failure || !(error instanceof Error)) return error;
  const code = errorCode(error);
  return code === null ? new Failure('conflict', error.message) : new Failure('unavailable', `The files can not be written (${code}).`);
}

/** Ends the work when the folder grows beyond the limit. */
async function within(limitBytes: number, folder: string, clock: Clock, over: AbortController, work: () => Promise<unknown>): Promise<void> {
  const done = new AbortController();
  const watching = (async () => {
    while (await pause(clock, LOOK_EVERY_MS, done.signal)) {
      if ((await sizeOf(folder)) > limitBytes) over.abort(tooLarge(limitBytes));
    }
  })();
  try {
    await work();
    if ((await sizeOf(folder)) > limitBytes) throw tooLarge(limitBytes);
  } finally {
    done.abort();
    await watching;
  }
}

function tooLarge(limitBytes: number): Failure {
  return new Failure('conflict', `git: the repository has more than ${limitBytes} bytes.`);
}

/** Of the files below it, in bytes. What goes away meanwhile counts nothing. */
async function sizeOf(folder: string): Promise<number> {
  let sum = 0;
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])) {
    if (!entry.isFile()) continue;
    const stats = await stat(join(entry.parentPath, entry.name)).catch(() => null);
    sum += stats?.size ?? 0;
  }
  return sum;
}

async function commitOf(git: Git, ref: string): Promise<string> {
  const commit = (await runGit(git, ['rev-parse', '--verify', '--quiet', 'FETCH_HEAD^{commit}'], collect)).trim();
  if (!/^[0-9a-f]{40}(?:[0-9a-f]{24})?$/.test(commit)) throw new Failure('conflict', 'git: what was fetched is no commit.');
  // A branch may be named like a commit; who asks for a commit gets that one or none.
  if (/^[0-9a-f]{40,64}$/.test(ref) && commit !== ref) throw new Failure('conflict', `git: the server sent another commit than ${ref}.`);
  return commit;
}
