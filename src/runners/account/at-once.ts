import type { AccountIds } from '../../domain/jobs/account.ts';
import { openMachine } from '../launch/machine.ts';
import type { SystemCalls } from '../sandbox/kernel/system-call.ts';
import { actAs, inGroupOf } from '../sandbox/kernel/effective-account.ts';

/**
 * For a few short calls in folders in which no job is at work yet: see `actAs`. A job could hold up this thread, so for
 * everything after its start there is `asAccount`.
 */
export function atOnceAs<T>(account: AccountIds, work: () => T): T {
  return changing((system) => actAs(system, account, work));
}

/** The same in the group of the account, as the service: see `inGroupOf`. */
export function atOnceInGroupOf<T>(account: AccountIds, work: () => T): T {
  return changing((system) => inGroupOf(system, account, work));
}

/** After a change the kernel protects our memory from processes of this account. The machine takes that back. */
function changing<T>(work: (system: SystemCalls) => T): T {
  const machine = openMachine();
  machine.beginChange();
  try {
    return work(machine.system);
  } finally {
    machine.endChange();
  }
}
