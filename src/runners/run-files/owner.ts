import { fchownSync, lchownSync, lstatSync } from 'node:fs';
import type { AccountIds } from '../../domain/jobs/account.ts';

/**
 * Who owns `folder`, which is a run directory or lies in one; null where that is this process itself. What the service
 * puts there is given to that account, so that the programs of the run may use it as if they had made it.
 */
export function ownerOf(folder: string): AccountIds | null {
  const { uid, gid } = lstatSync(folder);
  return uid === process.geteuid?.() ? null : { uid, gid };
}

export function giveFile(fd: number, owner: AccountIds | null): void {
  if (owner !== null) fchownSync(fd, owner.uid, owner.gid);
}

/** For a folder or a link that was just made, before a program of the run was started. A link is not followed. */
export function giveEntry(path: string, owner: AccountIds | null): void {
  if (owner !== null) lchownSync(path, owner.uid, owner.gid);
}
