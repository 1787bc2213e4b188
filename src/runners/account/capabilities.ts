import { ACCOUNT_CAPABILITIES } from '../../domain/jobs/account.ts';
import { openSystemCalls, type SystemCalls } from '../sandbox/kernel/system-call.ts';

/**
 * The capabilities by which a service that is not root becomes the account of its jobs. Programs that a process starts
 * inherit them (AmbientCapabilities= of systemd): the service takes that back when it starts, and only its guard gets
 * them, and the program that it becomes when it restarts in place.
 */

const VERSION_3 = 0x2008_0522;
const PR_CAP_AMBIENT = 47;
const PR_CAP_AMBIENT_RAISE = 2;
const MASK = ACCOUNT_CAPABILITIES.reduce((mask, { number }) => mask | (1 << number), 0);
/** Of the first word of each set in the data of capget: all of these capabilities are in it. */
const [EFFECTIVE_AT, PERMITTED_AT, INHERITABLE_AT, DATA_BYTES] = [0, 4, 8, 24];

let isWithheld = false;

/** No program that this thread starts from here on gets these capabilities. Nothing happens for root. */
export function withholdCapabilities(): void {
  if (process.platform !== 'linux' || process.geteuid?.() === 0) return;
  isWithheld = true;
  change([INHERITABLE_AT], false);
}

/** Gives them up, for a service that does not need them. Nothing happens for root. */
export function dropCapabilities(): void {
  if (process.platform !== 'linux' || process.geteuid?.() === 0) return;
  isWithheld = false;
  change([EFFECTIVE_AT, PERMITTED_AT, INHERITABLE_AT], false);
}

/** A program of the service itself that `start` starts gets those that were withheld. */
export function passingCapabilities<T>(start: () => T): T {
  if (!isWithheld) return start();
  const system = openSystemCalls();
  change([INHERITABLE_AT], true);
  try {
    for (const { number } of ACCOUNT_CAPABILITIES) {
      const raised = system.call(system.numbers.made.prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, number, 0, 0);
      if (raised !== 0) throw new Error(`passing a capability failed with error ${-raised}`);
    }
    return start();
  } finally {
    change([INHERITABLE_AT], false);
  }
}

/** Of this thread. What is no longer inheritable is not ambient either. */
function change(sets: readonly number[], isHeld: boolean): void {
  const system = openSystemCalls();
  const { capget, capset } = system.numbers.made;
  const header = Buffer.alloc(8);
  header.writeUInt32LE(VERSION_3, 0);
  const data = Buffer.alloc(DATA_BYTES);
  require0(system, capget, header, data);
  const before = Buffer.from(data);
  for (const at of sets) {
    const word = data.readUInt32LE(at);
    data.writeUInt32LE((isHeld ? word | MASK : word & ~MASK) >>> 0, at);
  }
  if (!before.equals(data)) require0(system, capset, header, data);
}

function require0(system: SystemCalls, call: number, header: Buffer, data: Buffer): void {
  const result = system.call(call, header, data);
  if (result !== 0) throw new Error(`changing capabilities failed with error ${-result}`);
}
