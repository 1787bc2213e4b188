import type { AccountIds } from '../../domain/jobs/account.ts';
import { Failure } from '../../domain/failure.ts';
import { type HostKey, readHostKey } from '../../domain/inventories/host-key.ts';
import type { Clock } from '../../lib/clock.ts';
import { randomName } from '../../lib/random.ts';
import { cleaned, collect } from '../checkout/git/process.ts';
import { CommandNotExecutable, CommandNotFound, SandboxRefused } from '../launch/errors.ts';
import type { Launcher } from '../launch/launch.ts';
import { supervise } from '../process/supervise.ts';
import { JOB_ID_VARIABLE } from '../../domain/jobs/job.ts';

/** How ssh-keyscan is started. */
export interface HostKeyScan {
  readonly launcher: Launcher;
  readonly clock: Clock;
  readonly searchPath: string;
  /** What it runs as; null is the account of this process. */
  readonly account: AccountIds | null;
}

/** A host on the same continent answers within a second, also a loaded one. */
const ANSWER_WITHIN_S = 5;
/** It gives up by itself, unless a host keeps sending bytes. */
const ENDS_WITHIN_MS = 30_000;
/** An old RSA key is enough where a host has no other. */
const TYPES = 'ed25519,ecdsa,rsa';

/**
 * The public keys that the server at this address and port offers now; none of them is accepted by this. ssh-keyscan
 * runs in the sandbox and reaches that port only. Throws `unavailable` where there is no answer, no ssh-keyscan or no
 * sandbox.
 */
export async function scanHostKeys(
  { launcher, clock, searchPath, account }: HostKeyScan,
  { address, port }: { readonly address: string; readonly port: number },
): Promise<readonly HostKey[]> {
  const jobId = `keyscan-${randomName()}`;
  try {
    const launched = await launcher.launch({
      argv: ['ssh-keyscan', '-T', String(ANSWER_WITHIN_S), '-t', TYPES, '-p', String(port), '--', address],
      env: { [JOB_ID_VARIABLE]: jobId, PATH: searchPath, HOME: '/', LANG: 'C', LC_ALL: 'C' },
      cwd: '/',
      policy: { readable: [], writable: [], connectPorts: [port] },
      account,
    });
    const [printed, complaint] = await Promise.all([
      collect(launched.stdout),
      collect(launched.stderr),
      supervise(launched, { jobId, timeoutMs: ENDS_WITHIN_MS, graceMs: 0, clock }),
    ]);
    const keys = printed.split('\n').flatMap((line) => readHostKey(line.split(' ').slice(1).join(' ')) ?? []);
    if (keys.length > 0) return keys;
    throw new Failure('unavailable', `no key was offered: ${reasonOf(complaint)}`);
  } catch (error) {
    throw errorOfStart(error);
  }
}

/** ssh-keyscan asks once for each type of key, and complains as often. */
function reasonOf(complaint: string): string {
  const lines = new Set(complaint.split(/[\r\n]+/).filter((line) => !line.startsWith('#') && line.trim() !== ''));
  return lines.size === 0 ? 'no SSH server answered' : cleaned([...lines].join('\n'));
}

function errorOfStart(error: unknown): unknown {
  if (error instanceof CommandNotFound || error instanceof CommandNotExecutable)
    return new Failure('unavailable', 'ssh-keyscan cannot be started: install the OpenSSH client.');
  if (error instanceof SandboxRefused)
    return new Failure('unavailable', `ssh-keyscan cannot run in the sandbox. ${error.message}`);
  return error;
}
