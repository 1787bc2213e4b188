import { closeSync, openSync, unlinkSync } from 'node:fs';
import { FOLDER_FLAGS } from './folder-flags.ts';

/** An entry of a folder that is in a folder of the service. */
export interface EntryOf {
  readonly folder: string;
  readonly name: string;
}

/**
 * Removes a file or link of a folder, from the folder's own descriptor. Does nothing where that fails. For the guard,
 * which waits for nothing.
 */
export function unlinkIn({ folder, name }: EntryOf): void {
  try {
    const fd = openSync(folder, FOLDER_FLAGS);
    try {
      unlinkSync(`/proc/self/fd/${fd}/${name}`);
    } finally {
      closeSync(fd);
    }
  } catch {
    // Missing, or removed with its folder.
  }
}
