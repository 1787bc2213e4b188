import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';

/**
 * The directory of this process's compile cache as NODE_COMPILE_CACHE of a child wants it; null without one.
 * With it a helper process starts in 30 ms instead of 130, and 16 MiB smaller.
 */
export function ownCompileCacheDir(): string | null {
  // Node answers the folder that it made in there for its own version.
  const used = getCompileCacheDir();
  return used === undefined ? null : dirname(used);
}
