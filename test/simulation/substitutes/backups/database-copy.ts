import { closeSync, openSync, writeSync } from 'node:fs';
import { backup as realBackup, type BackupOptions, type DatabaseSync } from 'node:sqlite';
import { pause } from '../../../../src/lib/clock.ts';
import { running, theWorld } from '../../world/current.ts';
import { disown, own } from '../../world/descriptors.ts';
import { failOn } from '../../world/disk.ts';

/** Less than the product asks for: the stores of the world are small, and others have to write in between. */
const PART_BYTES = 128 * 1024;
/** A part takes this long, at most, in this share. */
const SLOW = { share: 0.3, mostMs: 400 };

/**
 * The content at the moment of the call, as of a reader that holds its transaction, in parts with a step of the world
 * after each. The real one works in the thread pool.
 */
export async function backup(source: DatabaseSync, to: string, options: BackupOptions = {}): Promise<number> {
  const host = running()?.host;
  if (host === undefined) return realBackup(source, to, options);
  const content = source.serialize();
  const slow = theWorld().chance.of(`${host.name}/copy`);
  const fd = own(openSync(to, 'w', 0o600));
  const totalPages = Math.ceil(content.length / PART_BYTES);
  try {
    for (let page = 0; page < totalPages; page += 1) {
      failOn(host, null);
      writeSync(fd, content.subarray(page * PART_BYTES, (page + 1) * PART_BYTES));
      await pause(theWorld().clock(), slow.chance(SLOW.share) ? slow.whole(1, SLOW.mostMs) : 0);
      options.progress?.({ totalPages, remainingPages: totalPages - page - 1 });
    }
  } finally {
    disown(fd);
    closeSync(fd);
  }
  return totalPages;
}
