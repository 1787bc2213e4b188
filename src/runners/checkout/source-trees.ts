import { lstat, mkdir, readdir, rename, utimes } from 'node:fs/promises';
import { affixed, entryPath, namePart, pathPart, type PathPart } from '../../domain/path-part.ts';
import type { Clock } from '../../lib/clock.ts';
import { syncDirectory } from '../../lib/atomic-file.ts';
import { errorCode } from '../../lib/error-code.ts';
import { randomName } from '../../lib/random.ts';
import { discard, eraseEntry, eraseLeftovers } from './erase.ts';

/** Trees of a source that stay: the newest, and those that a run may be copying. */
const KEPT = 3;
/** No name of a source begins with a dot, so these never meet one. */
const FETCHING = '.fetch-';
const COMMIT = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/;

/**
 * The files of git sources: `<folder>/<source>/<commit>`, each made whole beside it and then renamed, and renamed away
 * before it is removed. So a tree that has its name has all its files.
 */
export class SourceTrees {
  readonly #folder: string;
  readonly #clock: Clock;

  constructor(folder: string, clock: Clock) {
    this.#folder = folder;
    this.#clock = clock;
  }

  /** Hands an empty folder to `fill`, and gives the tree that it made the name of its commit. */
  async place(
    source: string,
    fill: (into: string) => Promise<{ readonly commit: string; readonly tree: string }>,
  ): Promise<string> {
    const ofSource = this.#ofSource(source);
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    await eraseLeftovers(this.#folder, FETCHING, this.#clock);
    const name = affixed(FETCHING, pathPart('random name', randomName()));
    const into = entryPath(this.#folder, name);
    await mkdir(into, { mode: 0o700 });
    try {
      const { commit, tree } = await fill(into);
      const part = commitPart(commit);
      if (part === null) throw new Error(`${commit} is not a commit`);
      await this.#settle(tree, ofSource, part);
      await this.#removeOld(ofSource, part);
      return commit;
    } finally {
      await eraseEntry(this.#folder, name, this.#clock);
    }
  }

  /** Null when this machine does not have that commit. */
  async find(source: string, commit: string): Promise<string | null> {
    const part = commitPart(commit);
    if (part === null) return null;
    const path = entryPath(this.#ofSource(source), part);
    const stats = await lstat(path).catch(() => null);
    return stats?.isDirectory() === true ? path : null;
  }

  /** Removes the trees of a source. They are renamed at once; if this process ends, the next fetch removes the rest. */
  async remove(source: string): Promise<void> {
    await this.#discard(this.#ofSource(source));
  }

  #ofSource(name: string): string {
    return entryPath(this.#folder, namePart('name of the source', name));
  }

  /** An existing tree stays: it has the same files, and a run may be copying them. */
  async #settle(tree: string, ofSource: string, commit: PathPart): Promise<void> {
    // The source may have been removed in the mean time.
    await mkdir(ofSource, { recursive: true, mode: 0o700 });
    try {
      await rename(tree, entryPath(ofSource, commit));
    } catch (error) {
      const code = errorCode(error);
      if (code !== 'ENOTEMPTY' && code !== 'EEXIST') throw error;
    }
    await syncDirectory(ofSource);
  }

  #discard(path: string): Promise<void> {
    return discard(this.#folder, path, this.#clock);
  }

  async #removeOld(ofSource: string, newest: PathPart): Promise<void> {
    // The clock of the machine may be off; that of the directory entry decides, so the newest gets this moment.
    const now = new Date(this.#clock.now());
    await utimes(entryPath(ofSource, newest), now, now);
    const others = (await readdir(ofSource)).filter((name) => name !== newest).map((name) => `${ofSource}/${name}`);
    const aged = await Promise.all(
      others.map(async (path) => ({ path, at: (await lstat(path).catch(() => null))?.mtimeMs ?? 0 })),
    );
    const old = aged.toSorted((a, b) => b.at - a.at).slice(KEPT - 1);
    for (const { path } of old) await this.#discard(path);
  }
}

function commitPart(commit: string): PathPart | null {
  return COMMIT.test(commit) ? pathPart('commit of the source', commit) : null;
}
