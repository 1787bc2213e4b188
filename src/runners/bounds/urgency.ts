import { writeFileSync } from 'node:fs';
import { constants, getPriority, setPriority } from 'node:os';
import { errorCode } from '../../lib/error-code.ts';
import { openMachine } from '../launch/machine.ts';

const SCHED_OTHER = 0;
const SCHED_RR = 2;
/** Children start with the ordinary priority again. To take it back needs CAP_SYS_NICE, so it stays. */
const SCHED_RESET_ON_FORK = 0x4000_0000;
/** The lowest of the real-time priorities, which is above all ordinary processes. */
const PRIORITY = 1;
const ORDINARY = 0;

/** The weight of a session among all sessions is written as a nice value: -20 is 87 times that of another one. */
const SESSION_FILE = '/proc/self/autogroup';
const PREFERRED = '-20';
const EQUAL = '0';

let urgent = 0;

/**
 * Runs `work` with a real-time priority: a job that starts processes without end leaves the daemon so little of the
 * processors that it would not get to end that job. Without the right to it (root, CAP_SYS_NICE, RLIMIT_RTPRIO), just
 * runs `work`.
 */
export async function urgently<T>(work: () => Promise<T>): Promise<T> {
  urgent += 1;
  if (urgent === 1) schedule(SCHED_RR | SCHED_RESET_ON_FORK, PRIORITY);
  try {
    return await work();
  } finally {
    urgent -= 1;
    if (urgent === 0) schedule(SCHED_OTHER | SCHED_RESET_ON_FORK, ORDINARY);
  }
}

let isPreferred = false;
let canPrefer = true;

/**
 * Gives the session of the daemon more of the processors than others, or the same again. The kernel shares them out
 * among sessions first (sched_autogroup_enabled), so a job that starts each process in a separate session leaves the
 * daemon one part in hundreds. In a control group with a weight, such as that of a container, they are shared out among
 * threads: there the main thread gets the same weight. Both need the right to it (root, CAP_SYS_NICE, RLIMIT_NICE).
 */
export function preferOwnSession(preferred: boolean): void {
  if (preferred === isPreferred || !canPrefer) return;
  preferThread(preferred);
  try {
    writeFileSync(SESSION_FILE, preferred ? PREFERRED : EQUAL);
    isPreferred = preferred;
  } catch (error) {
    // The kernel takes ten changes a second of a process that is not root; the next call tries again.
    canPrefer = errorCode(error) === 'EAGAIN';
  }
}

const OWN_NICE = getPriority();

/** Children start with the ordinary weight, or it is left as it is. */
function preferThread(preferred: boolean): void {
  if (urgent === 0 && !schedule(SCHED_OTHER | SCHED_RESET_ON_FORK, ORDINARY)) return;
  try {
    setPriority(preferred ? constants.priority.PRIORITY_HIGHEST : OWN_NICE);
  } catch {
    // Without the right to it the weight stays.
  }
}

/** Whether the system has taken it. */
function schedule(policy: number, priority: number): boolean {
  try {
    const { system } = openMachine();
    const parameter = Buffer.alloc(4);
    parameter.writeInt32LE(priority);
    return system.call(system.numbers.targeted.sched_setscheduler, 0, policy, parameter) === 0;
  } catch {
    // A system without these calls starts no jobs.
    return false;
  }
}
