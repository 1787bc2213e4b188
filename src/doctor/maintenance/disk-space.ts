import { statfs } from 'node:fs/promises';
import { fail, type Facts, type Finding, ok, unknown, warn } from '../entry.ts';
import { plainReason } from '../reason.ts';

const MIB = 2 ** 20;
const GIB = 2 ** 30;

/** There is still time to free space: a few jobs at their output cap of 256 MiB fit. */
const WARN_BELOW = { share: 0.1, bytes: GIB };
/** SQLite's log alone may take 64 MiB: with less, writes fail soon. */
const FAIL_BELOW = { share: 0.01, bytes: 64 * MIB };

/** Free space on the file system of the data directory, for an unprivileged user. */
export async function examineDiskRoom({ paths }: Facts): Promise<Finding> {
  try {
    const { bsize, blocks, bavail } = await statfs(paths.dir);
    return judgeRoom(bavail * bsize, blocks * bsize);
  } catch (error) {
    return unknown(`The file system of the data directory cannot be asked: ${plainReason(error)}.`);
  }
}

/** Both in bytes. */
export function judgeRoom(free: number, total: number): Finding {
  const below = (limit: typeof WARN_BELOW): boolean => free < limit.bytes || free < total * limit.share;
  // Rounded down, so that "10 %" is never shown with a warning of less than 10 %.
  const percent = total > 0 ? Math.floor((free / total) * 1_000) / 10 : 0;
  const detail = `${inUnits(free)} of ${inUnits(total)} free (${percent} %)`;
  if (below(FAIL_BELOW)) return fail(`${detail}: less than 1 % or 64 MiB; writes are about to fail.`);
  if (below(WARN_BELOW)) return warn(`${detail}: less than 10 % or 1 GiB.`);
  return ok(`${detail}.`);
}

function inUnits(bytes: number): string {
  return bytes >= GIB ? `${(bytes / GIB).toFixed(1)} GiB` : `${(bytes / MIB).toFixed(1)} MiB`;
}
