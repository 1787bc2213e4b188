import { readdir, realpath, stat } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';
import { processEnvironment } from '../config/settings/settings.ts';
import { Failure } from '../domain/failure.ts';
import { systemClock } from '../lib/clock.ts';
import { isWithin } from '../lib/within.ts';
import type { SourceFetcher } from '../operations/core/services.ts';
import { NoTarget } from '../runners/checkout/copy-target.ts';
import { COPY_LIMITS, copyTree } from '../runners/checkout/copy-tree.ts';
import { findHooksFile, readHookNames } from '../runners/checkout/hooks-file.ts';
import { fetchGit } from '../runners/checkout/git/git.ts';
import type { GitPlace } from '../runners/checkout/git/place.ts';
import { createGuard } from '../runners/process/guard.ts';
import { SourceTrees } from '../runners/checkout/source-trees.ts';
import type { Launcher } from '../runners/launch/launch.ts';

/**
 * Git sources lie in `sourcesDir`, which is in the data directory; directories are used where they are. `launcher`
 * starts git, and `place` is where and as whom it works when jobs run as another account. `runsDirs` are folders of run
 * directories outside of the data directory: no source either.
 */
export function createSourceFetcher(
  sourcesDir: string,
  launcher: Launcher,
  place: () => Promise<GitPlace | null> = () => Promise.resolve(null),
  runsDirs: readonly string[] = [],
): SourceFetcher {
  const trees = new SourceTrees(sourcesDir, systemClock);
  const own = [dirname(sourcesDir), ...runsDirs];
  const fetcher: SourceFetcher = {
    async fetch(source, signal) {
      if (source.kind === 'dir') {
        await checkDirectory(source.location, own);
        await readdir(source.location).catch(refuseUnreadable);
        return { commit: null };
      }
      const searchPath = processEnvironment()['PATH'];
      // A separate guard for the time of the fetch, because not every program that fetches is a daemon.
      const guard = createGuard({ clock: systemClock });
      const how = {
        url: source.location,
        ref: source.ref,
        signal,
        launcher,
        place: await place(),
        guard,
        ...(searchPath === undefined ? {} : { searchPath }),
      };
      try {
        return { commit: await trees.place(source.name, (into) => fetchGit({ ...how, into })) };
      } finally {
        await guard.stop();
      }
    },
    async treeOf(source) {
      if (source.kind === 'git') return source.commit_id === null ? null : trees.find(source.name, source.commit_id);
      try {
        await checkDirectory(source.location, own);
        return source.location;
      } catch {
        return null;
      }
    },
    remove: (name) => trees.remove(name),
    hooksFile: findHooksFile,
    hasFile,
    hookNames: readHookNames,
    digestOf: async (tree, signal) => (await copyTree(tree, new NoTarget(), COPY_LIMITS, signal)).digest,
  };
  return fetcher;
}

async function hasFile(tree: string, path: string): Promise<boolean> {
  const [root, file] = await Promise.all([tree, join(tree, path)].map((each) => realpath(each).catch(() => null)));
  if (root === null || root === undefined || file === null || file === undefined) return false;
  return isWithin(file, root) && (await stat(file)).isFile();
}

/** A run copies the directory: it must not contain files of the service, not even through a link. */
async function checkDirectory(directory: string, own: readonly string[]): Promise<void> {
  if (!isAbsolute(directory)) throw new Failure('invalid_argument', 'dir: expected an absolute path.');
  const real = await realpath(directory).catch(() => null);
  if (real === null) throw new Failure('invalid_argument', 'dir: the path does not exist or cannot be read.');
  if (!(await stat(real)).isDirectory()) throw new Failure('invalid_argument', 'dir: the path is not a directory.');
  for (const folder of own) {
    // Before the first start the data directory does not exist.
    const kept = await realpath(folder).catch(() => folder);
    if (!isWithin(real, kept) && !isWithin(kept, real)) continue;
    throw new Failure('invalid_argument', 'dir: must not be inside, or contain, the data directory.');
  }
}

function refuseUnreadable(): never {
  throw new Failure('invalid_argument', 'dir: the service cannot list this directory.');
}
