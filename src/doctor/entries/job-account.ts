import { readdir, readFile, stat } from 'node:fs/promises';
import { findJobAccount, isRoot, JOB_ACCOUNT } from '../../config/job-account.ts';
import type { Account } from '../../domain/jobs/account.ts';
import { type Clock, pause } from '../../lib/clock.ts';
import { userName } from '../../lib/user-name.ts';
import { type Facts, type Finding, NAMED_MAX, ok, warn } from '../entry.ts';

/** The environment variable of every process of a job. */
const JOB_MARK = '\0SVC_JOB_ID=';
/** A process changes to the account before it executes the program, which has the variable. */
const LOOK_AGAIN_MS = 250;
/**
 * The capabilities that a daemon as root needs to start and end jobs as another account. Containers often lack some.
 */
const NEEDED_CAPABILITIES: readonly { readonly name: string; readonly bit: bigint }[] = [
  { name: 'CAP_CHOWN', bit: 0n },
  { name: 'CAP_DAC_OVERRIDE', bit: 1n },
  { name: 'CAP_KILL', bit: 5n },
  { name: 'CAP_SETGID', bit: 6n },
  { name: 'CAP_SETUID', bit: 7n },
  { name: 'CAP_SYS_PTRACE', bit: 19n },
];

/** Checks the account of the jobs, and whether other processes use it. */
export async function examineJobAccount({ settings, jobIdentity, clock }: Facts): Promise<Finding> {
  const identity = jobIdentity ?? (await findJobAccount(settings.jobUser));
  if (!isRoot()) return ok(`Jobs run as ${userName()}, the account of the service.`);
  if (identity === null)
    return ok(`Account ${JOB_ACCOUNT}, which jobs run as, does not exist yet: "svc serve" creates it.`);
  const { account, isFallback } = identity;
  if (account === null)
    return warn(
      'Jobs run as root (--job-user root): a job that escapes the sandbox controls the machine. Remove the setting.',
    );
  if (isFallback)
    return warn(
      `Jobs run as ${account.name}, which other services use too: account ${JOB_ACCOUNT} could not be created. ` +
        `Create it with "useradd --system ${JOB_ACCOUNT}" and restart the service.`,
    );
  const missing = await missingCapabilities();
  if (missing.length > 0)
    return warn(
      `Jobs run as ${account.name}, and the service lacks ${missing.join(', ')}: jobs may fail to start or to ` +
        'end. Add the capabilities, or run the service as an account that is not root.',
    );
  const others = await lastingForeigners(account, clock);
  if (others.length === 0 && jobIdentity !== undefined) return ok(`Jobs run as ${account.name}.`);
  // The settings of a running daemon are unknown to other processes, which only have their own.
  if (others.length === 0)
    return ok(
      `With these settings a daemon runs jobs as ${account.name}. For the running daemon, run svc doctor --remote URL.`,
    );
  const named = others.slice(0, NAMED_MAX).join(', ');
  return warn(
    `Jobs run as ${account.name}, and ${others.length === 1 ? 'a process' : `${others.length} processes`} of ` +
      `that account ${others.length === 1 ? 'belongs' : 'belong'} to no job (pid ${named}): jobs may reach ` +
      'their data. End them, or set --job-user to a separate account.',
  );
}

async function missingCapabilities(): Promise<string[]> {
  const status = await readFile('/proc/self/status', 'latin1').catch(() => '');
  const effective = /^CapEff:\s+([0-9a-f]+)$/m.exec(status)?.[1];
  if (effective === undefined) return [];
  const held = BigInt(`0x${effective}`);
  return NEEDED_CAPABILITIES.filter(({ bit }) => (held & (1n << bit)) === 0n).map(({ name }) => name);
}

async function lastingForeigners(account: Account, clock: Clock): Promise<string[]> {
  const first = await foreignProcesses(account);
  if (first.length === 0) return first;
  await pause(clock, LOOK_AGAIN_MS);
  const second = new Set(await foreignProcesses(account));
  return first.filter((pid) => second.has(pid));
}

/** Processes of the account that no job has started, or that removed the variable. */
async function foreignProcesses({ uid }: Account): Promise<string[]> {
  const found: string[] = [];
  for (const pid of (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name))) {
    try {
      if ((await stat(`/proc/${pid}`)).uid !== uid) continue;
      const environment = await readFile(`/proc/${pid}/environ`, 'latin1');
      if (`\0${environment}`.includes(JOB_MARK) || (await isDead(pid))) continue;
      found.push(pid);
    } catch {
      // Ended, or not readable: skip it.
    }
  }
  return found;
}

async function isDead(pid: string): Promise<boolean> {
  const line = await readFile(`/proc/${pid}/stat`, 'latin1');
  return /^[ZX]/.test(line.slice(line.lastIndexOf(')') + 2));
}
