import type { Tree } from '../../domain/sources/directory.ts';
import type { FetchedTree } from '../../domain/sources/source.ts';
import type { SourcePlace } from '../../store/sources/source-place.ts';

declare module '../core/services.ts' {
  interface Services {
    readonly sources: SourceFetcher;
  }
}

/** Brings the files of sources into the data directory, from where each run takes its private copy. */
export interface SourceFetcher {
  /**
   * Throws Failure with the tool's own words, cleaned. A directory is only looked at: it must exist, have no link in
   * its path, and neither lie in the data directory nor hold it. `signal` ends a fetch that has no waiting caller.
   */
  fetch(place: SourcePlace, signal?: AbortSignal): Promise<FetchedTree>;
  /**
   * Where the files of a fetched source are; null when this machine does not have that commit or directory. Throws
   * conflict for another directory than the one that was named.
   */
  treeOf(place: SourcePlace): Promise<Tree | null>;
  remove(name: string): Promise<void>;
  /**
   * The lifecycle hooks file at the root of a tree, as it is spelt there; null without one. Rejects for what is no
   * folder.
   */
  hooksFile(tree: Tree): Promise<string | null>;
  /** Whether there is a file at that path in a tree, and no link of it leads out. */
  hasFile(tree: Tree, path: string): Promise<boolean>;
  /** The digest of the files of a tree, as a plan keeps it. Rejects, with the reason, where a run could not copy it. */
  digestOf(tree: Tree, signal?: AbortSignal): Promise<string>;
  /** The same of all that a run copies, states too; without plugins where it leaves them out. */
  wholeDigestOf(tree: Tree, leavesPlugins: boolean, signal?: AbortSignal): Promise<string>;
  /** The names of the hooks that it declares. */
  hookNames(tree: Tree, file: string): Promise<readonly string[]>;
}
