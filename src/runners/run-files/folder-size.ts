import { errorCode } from '../../lib/error-code.ts';
import type { Folder } from './folder.ts';
import { openRunDir } from './open-run-dir.ts';

interface SizeLimits {
  readonly entries: number;
  /** Of folders in each other. */
  readonly depth: number;
}

/** What is said of an entry that was removed or exchanged during the measurement. */
const GONE: readonly (string | null)[] = ['ENOENT', 'ENOTDIR', 'ELOOP'];

/**
 * The size of the files below a folder of a run, in bytes; infinity beyond a limit, because listing costs memory and
 * time, and where it cannot be measured, such as for a folder that a program of the run has closed. Entries that are
 * removed during the measurement count as 0.
 */
export async function sizeOf(path: string, limits: SizeLimits): Promise<number> {
  const size = await unlessGone(async () => {
    await using folder = await openRunDir(path);
    return await sizeIn(folder, limits, { entries: 0 }, 1);
  }).catch(() => Number.POSITIVE_INFINITY);
  return size ?? 0;
}

/** Null where the entry is gone. */
async function unlessGone<T>(work: () => Promise<T>): Promise<T | null> {
  try {
    return await work();
  } catch (error) {
    if (GONE.includes(errorCode(error))) return null;
    throw error;
  }
}

async function sizeIn(folder: Folder, limits: SizeLimits, seen: { entries: number }, depth: number): Promise<number> {
  let sum = 0;
  for await (const { name } of folder.entries()) {
    seen.entries += 1;
    if (seen.entries > limits.entries || depth > limits.depth) return Number.POSITIVE_INFINITY;
    const stats = await unlessGone(() => folder.statsOf(name));
    if (stats?.isFile() === true) sum += Number(stats.size);
    if (stats?.isDirectory() !== true) continue;
    const below = await unlessGone(async () => {
      await using inner = await folder.folder(name);
      return await sizeIn(inner, limits, seen, depth + 1);
    });
    sum += below ?? 0;
  }
  return sum;
}
