import { readdirSync, readFileSync } from 'node:fs';
import type { AccountIds } from '../../domain/jobs/account.ts';
import type { Clock } from '../../lib/clock.ts';
import { startChild } from '../launch/child.ts';
import type { Exit } from '../launch/children.ts';
import { openMachine } from '../launch/machine.ts';
import { ANY_RESULT, type Step } from '../launch/records.ts';
import { processEntry } from './process-table.ts';
import { markIn, markOf } from '../sandbox/mark.ts';

const SIGKILL = 9;
/** For `kill`: every process that the caller may signal, except itself. One that has the signal cannot fork. */
const EVERY_PROCESS = -1;

/** The job may stop the process that is about to end it, for both are of one account. */
const BLOW_WITHIN_MS = 1_000;

const BECOMING: Step = { name: 'becoming the account' };
const ENDING: Step = { name: 'ending' };

/**
 * Ends every process of an account at one blow, also those that start a successor and end faster than they are found.
 * Does nothing, and answers false, while a process of the account belongs to anything but this job, or another program
 * is becoming the account. In the microseconds between this look and the blow, a program of another service could.
 */
export async function endAccount(account: AccountIds, jobId: string, clock: Clock): Promise<boolean> {
  const { uid, gid } = account;
  if (uid === 0 || gid === 0 || uid === process.getuid?.() || uid === process.geteuid?.()) return false;
  const machine = openMachine();
  if (machine.isChanging || !isOfJobAlone(uid, jobId)) return false;
  const { system, code, children, confinement } = machine;
  const { setgroups, setresgid, setresuid, kill, exit_group } = system.numbers.made;
  const slot = machine.takeSlot();
  machine.beginChange();
  try {
    const list = slot.list();
    // A call that fails ends the child: only one that is the account, without any right of ours, sends the signal.
    list.call(BECOMING, setgroups, [0, 0]);
    list.call(BECOMING, setresgid, [gid, gid, gid]);
    list.call(BECOMING, setresuid, [uid, uid, uid]);
    confinement.addCapabilities(list);
    list.call(ENDING, kill, [EVERY_PROCESS, SIGKILL], ANY_RESULT);
    list.call(ENDING, exit_group, [0]);
    const pid = startChild(system, code, list);
    const exit = new Promise<Exit>((resolve) => children.add(pid, resolve));
    const cancel = clock.after(BLOW_WITHIN_MS, () => process.kill(pid, 'SIGKILL'));
    const { exitCode } = await exit;
    cancel();
    return exitCode === 0;
  } finally {
    slot.free();
    machine.endChange();
  }
}

/** In one turn, so that no program of ours becomes the account at the same time. */
function isOfJobAlone(uid: number, jobId: string): boolean {
  const mark = markOf(jobId);
  return readdirSync('/proc').every((name) => {
    const pid = Number(name);
    if (!Number.isInteger(pid) || !hasUser(pid, uid)) return true;
    return processEntry(pid) === null || markIn(pid) === mark;
  });
}

/** Whether it is one of the users of a process: the real, the effective, the saved, or that for files. */
function hasUser(pid: number, uid: number): boolean {
  try {
    const users = /^Uid:\s+(.*)$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? '';
    return users.split(/\s+/).includes(String(uid));
  } catch {
    return false;
  }
}
