import { realpath } from 'node:fs/promises';
import { dirname, isAbsolute, resolve } from 'node:path';
import { Failure } from '../domain/failure.ts';
import {
  changedDirectory,
  changeOf,
  type DirectoryIdentity,
  readKept,
  type Tree,
  withKept,
} from '../domain/sources/directory.ts';
import { systemClock } from '../lib/clock.ts';
import { errorCode } from '../lib/error-code.ts';
import { LinkInPath } from '../lib/files/open-path.ts';
import { isWithin } from '../lib/within.ts';
import type { SourceFetcher } from '../operations/sources/services.ts';
import { NoTarget } from '../runners/checkout/copy-target.ts';
import { copyTree } from '../runners/checkout/copy-tree.ts';
import { findHooksFile, readHookNames } from '../runners/checkout/hooks-file.ts';
import { PLUGIN_FOLDERS } from '../runners/checkout/plugin-folders.ts';
import { fetchGit } from '../runners/checkout/git/git.ts';
import type { GitPlace } from '../runners/checkout/git/place.ts';
import { type OpenDirectory, openDirectory, openTree } from '../runners/checkout/open-tree.ts';
import { createGuard } from '../runners/process/guard.ts';
import { SourceTrees } from '../runners/checkout/source-trees.ts';
import type { SourcePlace } from '../store/sources/source-place.ts';
import type { Launcher } from '../runners/launch/launch.ts';
import { resolveRunFile } from '../runners/run-files/run-files.ts';
import { ownSearchPath } from './search-path.ts';

interface SourcePlaces {
  /** Git sources lie in it, which is in the data directory; directories are used where they are. */
  readonly sourcesDir: string;
  /** Where and as whom git works when jobs run as another account. */
  readonly place?: () => Promise<GitPlace | null>;
  /** Folders of run directories outside of the data directory: no source either. */
  readonly runsDirs?: readonly string[];
  /** The name of this machine among those of the store. */
  readonly machine: string;
}

/** `launcher` starts git. */
export function createSourceFetcher(
  { sourcesDir, place, runsDirs = [], machine }: SourcePlaces,
  launcher: Launcher,
): SourceFetcher {
  const trees = new SourceTrees(sourcesDir, systemClock);
  const own = [dirname(sourcesDir), ...runsDirs];
  const directoryTree = async ({ location: path, dir_kept: column, words }: SourcePlace): Promise<Tree | null> => {
    const opened = await openCheckedDirectory(path, own).catch((error: unknown) => {
      if (error instanceof LinkInPath) throw changedDirectory(words, 'link');
      return null;
    });
    if (opened === null) return null;
    await opened[Symbol.asyncDispose]();
    const { identity } = opened;
    const kept = readKept(column, machine, words);
    const change = kept === null ? null : changeOf(kept, identity);
    if (change !== null) throw changedDirectory(words, change);
    const toKeep = kept === null ? withKept(column, machine, identity) : null;
    return { path, named: { identity, words, toKeep } };
  };
  const fetcher: SourceFetcher = {
    async fetch(source, signal) {
      if (source.kind === 'dir') {
        const identity = await identityOf(source.location, own);
        return { commit: null, dirKept: withKept(source.dir_kept, machine, identity) };
      }
      // A separate guard for the time of the fetch, because not every program that fetches is a daemon.
      const guard = createGuard({ clock: systemClock });
      const how = {
        url: source.location,
        ref: source.ref,
        signal,
        launcher,
        place: (await place?.()) ?? null,
        guard,
        searchPath: ownSearchPath(),
      };
      try {
        return { commit: await trees.place(source.name, (into) => fetchGit({ ...how, into })), dirKept: null };
      } finally {
        await guard.stop();
      }
    },
    async treeOf(source) {
      if (source.kind === 'dir') return directoryTree(source);
      const path = source.commit_id === null ? null : await trees.find(source.name, source.commit_id);
      return path === null ? null : { path, named: null };
    },
    remove: (name) => trees.remove(name),
    hooksFile: findHooksFile,
    hasFile: async (tree, path) => (await resolveRunFile(() => openTree(tree), path)) !== null,
    hookNames: readHookNames,
    digestOf: async (tree, signal) => (await copyTree(tree, new NoTarget(), { signal })).digest,
    async wholeDigestOf(tree, leavesPlugins, signal) {
      const without = leavesPlugins ? PLUGIN_FOLDERS : undefined;
      return (await copyTree(tree, new NoTarget(), { signal, without })).wholeDigest;
    },
  };
  return fetcher;
}

/** Opens the directory that a run would copy: it must not contain files of the service. Rejects as `openDirectory`. */
async function openCheckedDirectory(directory: string, own: readonly string[]): Promise<OpenDirectory> {
  // Also without `..`, by which a path would not show that it leads into the data directory.
  if (!isAbsolute(directory) || resolve(directory) !== directory)
    throw new Failure('invalid_argument', 'dir: expected an absolute path.');
  const opened = await openDirectory(directory);
  try {
    for (const folder of own) {
      // Before the first start the data directory does not exist.
      const kept = await realpath(folder).catch(() => folder);
      if (!isWithin(directory, kept) && !isWithin(kept, directory)) continue;
      throw new Failure('invalid_argument', 'dir: must not be inside, or contain, the data directory.');
    }
    return opened;
  } catch (error) {
    await opened[Symbol.asyncDispose]();
    throw error;
  }
}

/** What a directory is that a person names now. Throws invalid_argument. */
async function identityOf(directory: string, own: readonly string[]): Promise<DirectoryIdentity> {
  await using opened = await openCheckedDirectory(directory, own).catch(refuseUnopened);
  try {
    // One is enough.
    for await (const _ of opened.folder.entries()) break;
  } catch {
    throw new Failure('invalid_argument', 'dir: the service cannot list this directory.');
  }
  return opened.identity;
}

function refuseUnopened(error: unknown): never {
  if (error instanceof Failure) throw error;
  const why = error instanceof LinkInPath ? 'leads through a symbolic link now; add it again with --dir' : whyOf(error);
  throw new Failure('invalid_argument', `dir: the path ${why}.`);
}

function whyOf(error: unknown): string {
  return errorCode(error) === 'ENOTDIR' ? 'is not a directory' : 'does not exist or cannot be read';
}
