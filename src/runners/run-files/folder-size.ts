import type { Folder } from './folder.ts';
import { openRunDir } from './open-run-dir.ts';

interface SizeLimits {
  readonly entries: number;
  /** Of folders in each other. */
  readonly depth: number;
}

/**
 * The size of the files below a folder of a run, in bytes; infinity beyond a limit, because listing costs memory and
 * time. Entries that are removed during the measurement count as 0.
 */
export async function sizeOf(path: string, limits: SizeLimits): Promise<number> {
  await using folder = await openRunDir(path);
  return await sizeIn(folder, limits, { entries: 0, depth: 0 });
}

async function sizeIn(folder: Folder, limits: SizeLimits, seen: { entries: number; depth: number }): Promise<number> {
  let sum = 0;
  seen.depth += 1;
  for await (const { name } of folder.entries()) {
    seen.entries += 1;
    if (seen.entries > limits.entries || seen.depth > limits.depth) return Number.POSITIVE_INFINITY;
    const stats = await folder.statsOf(name).catch(() => null);
    if (stats?.isFile() === true) sum += Number(stats.size);
    if (stats?.isDirectory() !== true) continue;
    const inner = await folder.folder(name).catch(() => null);
    if (inner === null) continue;
    try {
      sum += await sizeIn(inner, limits, seen);
    } finally {
      await inner[Symbol.asyncDispose]();
    }
  }
  seen.depth -= 1;
  return sum;
}
