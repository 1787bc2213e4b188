import { getSystemErrorName } from 'node:util';
import type { AccountIds } from '../../domain/jobs/account.ts';
import type { MadeCalls } from '../sandbox/kernel/made-calls.ts';
import { CLONE_FILES, startChild } from '../launch/child.ts';
import { type Machine, openMachine } from '../launch/machine.ts';
import { ANY_RESULT, type CallList, type Step } from '../launch/records.ts';

const ID_STAYS = -1;
const AT_FDCWD = -100;
const O_RDONLY = 0;
const O_CLOEXEC = 0o2000000;

const ATTEMPT: Step = { name: 'a call on files' };
const BECOMING: Step = { name: 'becoming the account' };
const ENDING: Step = { name: 'ending' };

/** Lists calls on files, which are then made in this order. */
export class FileCalls {
  readonly #list: CallList;
  readonly #numbers: MadeCalls;

  constructor(list: CallList, numbers: MadeCalls) {
    this.#list = list;
    this.#numbers = numbers;
  }

  /** Copies a text and returns its address. Throws for a NUL, which would end the text. */
  text(value: string | Buffer): bigint {
    return this.#list.text(value);
  }

  /** Reserves memory for what a call writes. */
  room(size: number): { readonly address: bigint; readonly bytes: Buffer } {
    return this.#list.room(size);
  }

  add(call: keyof MadeCalls, ...args: readonly (number | bigint)[]): void {
    this.#list.call(ATTEMPT, this.#numbers[call], args, ANY_RESULT);
  }
}

/**
 * Makes calls on files with the rights of an account: a child that shares memory and descriptors of this process takes
 * the account as its effective one, makes the calls that `add` lists, and ends. It needs CAP_SETUID and CAP_SETGID, and
 * no right over files of others. The calls can do nothing that the account could not do itself. This thread does not
 * wait for them, however long a job holds them up. The real and the saved user of the child stay those of the service,
 * so processes of the account can neither signal nor trace it, although it shares our memory.
 *
 * `take` gets the result of each call, below zero for an error, while the memory of the list is still there. Rejects
 * when the account was refused; then no call was made.
 */
export async function asAccount<T>(
  account: AccountIds,
  add: (calls: FileCalls) => void,
  take: (results: readonly number[]) => T,
): Promise<T> {
  const machine = openMachine();
  const { numbers } = machine.system;
  const slot = machine.takeSlot();
  // The kernel treats the child as it treats one that becomes a tool.
  machine.beginChange();
  try {
    const list = slot.list();
    become(list, numbers.made, account);
    add(new FileCalls(list, numbers.made));
    list.call(ENDING, numbers.made.exit_group, [0]);
    if ((await endOf(machine, list)) !== 0) throw failureOf(list);
    return take(list.resultsOf(ATTEMPT));
  } finally {
    slot.free();
    machine.endChange();
  }
}

/** Opens a file for reading as the account. The caller closes it. */
export function openAs(account: AccountIds, path: string): Promise<number> {
  return asAccount(
    account,
    (calls) => calls.add('openat', AT_FDCWD, calls.text(path), O_RDONLY | O_CLOEXEC),
    ([fd = -1]) => {
      if (fd < 0) throw callError(fd, `opening ${path}`);
      return fd;
    },
  );
}

/** The error of a result below zero, with its code, as Node's own errors have it. */
export function callError(result: number, what: string): Error {
  const code = getSystemErrorName(result);
  return Object.assign(new Error(`${what} failed (${code})`), { code });
}

function become(list: CallList, made: MadeCalls, { uid, gid }: AccountIds): void {
  if (uid === 0 || gid === 0) throw new Error('the account must not be root');
  list.call(BECOMING, made.setgroups, [0, 0]);
  list.call(BECOMING, made.setresgid, [ID_STAYS, gid, ID_STAYS]);
  list.call(BECOMING, made.setresuid, [ID_STAYS, uid, ID_STAYS]);
}

function endOf({ system, code, children }: Machine, list: CallList): Promise<number | null> {
  const pid = startChild(system, code, list, CLONE_FILES);
  return new Promise((resolve) => children.add(pid, ({ exitCode }) => resolve(exitCode)));
}

function failureOf(list: CallList): Error {
  const failure = list.failure();
  return failure === null
    ? new Error('the calls on files were ended early')
    : callError(-failure.error, failure.step.name);
}
