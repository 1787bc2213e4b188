import { closeSync, openSync, unlinkSync } from 'node:fs';
import { FOLDER_FLAGS } from './folder-flags.ts';

/** An entry of a folder that is in a folder of the service. */
export interface EntryOf {
  readonly folder: string;
  readonly name: string;
}

/** Removes a file or link through the descriptor of its folder. Ignores errors, for the guard, which cannot wait. */
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
