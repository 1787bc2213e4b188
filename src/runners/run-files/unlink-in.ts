import { closeSync, fstatSync, openSync, unlinkSync } from 'node:fs';
import { actAs } from '../sandbox/kernel/effective-account.ts';
import { openSystemCalls } from '../sandbox/kernel/system-call.ts';
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
      const { uid, gid } = fstatSync(fd);
      const unlink = (): void => unlinkSync(`/proc/self/fd/${fd}/${name}`);
      if (uid === process.geteuid?.()) unlink();
      else actAs(openSystemCalls(), { uid, gid }, unlink);
    } finally {
      closeSync(fd);
    }
  } catch {
    // Missing, or removed with its folder.
  }
}
