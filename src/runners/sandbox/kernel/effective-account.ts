import type { AccountIds } from '../../../domain/jobs/account.ts';
import type { SystemCalls } from './system-call.ts';

const ID_STAYS = -1;

/**
 * Runs `work`, which must be synchronous, with the group of the account as the effective one of this thread. It needs
 * CAP_SETGID. Other threads, and the real and the saved group, stay as they are.
 */
export function inGroupOf<T>(system: SystemCalls, { gid }: AccountIds, work: () => T): T {
  const own = process.getegid?.() ?? ID_STAYS;
  set(system, 'setresgid', gid);
  try {
    return work();
  } finally {
    restore(system, 'setresgid', own);
  }
}

/**
 * Runs `work`, which must be synchronous, with the account as the effective one of this thread: it makes what belongs
 * to the account and may do nothing that the account may not. It needs CAP_SETUID and CAP_SETGID. Processes of the
 * account can neither signal nor trace this process, since its real and saved user stay.
 */
export function actAs<T>(system: SystemCalls, account: AccountIds, work: () => T): T {
  return inGroupOf(system, account, () => {
    const own = process.geteuid?.() ?? ID_STAYS;
    set(system, 'setresuid', account.uid);
    try {
      return work();
    } finally {
      restore(system, 'setresuid', own);
    }
  });
}

type SetIds = 'setresuid' | 'setresgid';

function set(system: SystemCalls, call: SetIds, id: number): void {
  if (id === 0) throw new Error('the account must not be root');
  const result = system.call(system.numbers.made[call], ID_STAYS, id, ID_STAYS);
  if (result < 0) throw new Error(`becoming the account failed with error ${-result}`);
}

/** A service that cannot become itself again would do everything after this as the account. */
function restore(system: SystemCalls, call: SetIds, id: number): void {
  if (system.call(system.numbers.made[call], ID_STAYS, id, ID_STAYS) !== 0) process.abort();
}
