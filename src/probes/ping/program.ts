import { spawn } from 'node:child_process';
import { Failure } from '../../domain/failure.ts';
import { findProgram } from '../../lib/programs/find-program.ts';
import { Limiter, LimiterFull } from '../../lib/flow/limiter.ts';
import type { Finding } from '../finding.ts';

/** An echo request each second, and no more of them than this. */
export const PING_SECONDS = 5;

/** Of the system, whatever the environment says. */
const PATH = '/usr/bin:/bin:/usr/sbin:/sbin';
/** Each is a process, and one whose address is silent takes half of the time of a probe. */
const AT_A_TIME = 32;
/** Its exit codes. All other codes are errors, such as no way to the address. */
const ANSWERED = 0;
const NOT_ANSWERED = 1;

const running = new Limiter({ running: AT_A_TIME, waiting: AT_A_TIME });

/**
 * Pings with the program of the system; null on a machine without it. `address` is a literal, so it is never an option.
 */
export async function pingByProgram(address: string, signal: AbortSignal): Promise<Finding | null> {
  const program = await findProgram('ping', PATH);
  if (program === null) return null;
  const code = await running.run(() => exitOf(program, address, signal)).catch(refused);
  if (code === ANSWERED) return { detail: 'ok' };
  return { detail: code === NOT_ANSWERED ? 'timeout' : 'unreachable' };
}

function refused(error: unknown): never {
  if (!(error instanceof LimiterFull)) throw error;
  throw new Failure(
    'unavailable',
    `ping: more than ${2 * AT_A_TIME} at a time need the sysctl net.ipv4.ping_group_range to include the group of ` +
      'the service',
  );
}

function exitOf(program: string, address: string, signal: AbortSignal): Promise<number | null> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    // With a deadline (-w), it sends until one request is answered.
    const child = spawn(program, ['-n', '-q', '-c', '1', '-w', String(PING_SECONDS), address], {
      stdio: 'ignore',
      env: {},
      signal,
      killSignal: 'SIGKILL',
    });
    child.once('error', reject);
    child.once('close', resolve);
  });
}
