import { openMachine } from '../launch/machine.ts';

const SCHED_OTHER = 0;
const SCHED_RR = 2;
/** Children start with the ordinary priority again. To take it back needs CAP_SYS_NICE, so it stays. */
const SCHED_RESET_ON_FORK = 0x4000_0000;
/** The lowest of the real-time priorities, which is above all ordinary processes. */
const PRIORITY = 1;
const ORDINARY = 0;

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

function schedule(policy: number, priority: number): void {
  try {
    const { system } = openMachine();
    const parameter = Buffer.alloc(4);
    parameter.writeInt32LE(priority);
    system.call(system.numbers.targeted.sched_setscheduler, 0, policy, parameter);
  } catch {
    // A system without these calls starts no jobs.
  }
}
