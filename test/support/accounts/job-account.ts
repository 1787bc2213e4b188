/** Accounts for tests of jobs that run as another account. No account of the machine has to have these numbers. */
import { execFileSync } from 'node:child_process';
import type { AccountIds } from '../../../src/domain/jobs/account.ts';
import { needs } from '../tools.ts';

export const TEST_ACCOUNT: AccountIds = { uid: 64_123, gid: 64_124 };

const IS_ROOT = process.platform === 'linux' && process.getuid?.() === 0;

/** For `skip`: false where this process may become another account. */
export const NO_ROOT = needs('Linux', 'root');

/** The accounts for which a test of files is run: null is the account of the test itself. */
export const ACCOUNTS: readonly (AccountIds | null)[] = IS_ROOT ? [null, TEST_ACCOUNT] : [null];

export function nameOf(account: AccountIds | null): string {
  return account === null ? 'of the account of the service' : 'of another account';
}

/** Gives a tree to the account, links themselves included. */
export function giveTree(path: string, account: AccountIds | null): void {
  if (account !== null) execFileSync('chown', ['-Rh', `${account.uid}:${account.gid}`, path]);
}
