import { readFile } from 'node:fs/promises';
import type { AccountIds } from '../../domain/jobs/account.ts';

const ACCOUNTS = '/etc/passwd';
/** A group that no file of another account should have: `nogroup`. */
const NO_GROUP = 65_534;

/**
 * The account whose rights this process uses for the files of a directory of that user: null are its own. Root has the
 * rights of everyone, and a directory is what its owner makes of it. The group is the first one of the user, where
 * `/etc/passwd` has the user: that of the directory may be one that the user is not in.
 */
export async function ownerAccount(uid: number): Promise<AccountIds | null> {
  if (process.geteuid?.() !== 0 || uid === 0) return null;
  const passwd = await readFile(ACCOUNTS, 'latin1').catch(() => '');
  return { uid, gid: groupIn(passwd, uid) ?? NO_GROUP };
}

/** The first group of a user in the text of a passwd file; null without one, and for the group of root. */
export function groupIn(passwd: string, uid: number): number | null {
  const fields = passwd.split('\n').map((line) => line.split(':'));
  const gid = Number(fields.find((each) => each[2] === String(uid))?.[3] ?? 0);
  return Number.isSafeInteger(gid) && gid > 0 ? gid : null;
}
