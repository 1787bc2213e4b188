import { readdirSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { missingCapabilities } from '../../config/account-rights.ts';
import { findJobAccount, isRoot, JOB_ACCOUNT } from '../../config/job-account.ts';
import type { Account } from '../../domain/jobs/account.ts';
import { type Clock, pause } from '../../lib/clock.ts';
import { nextTurn } from '../../lib/flow/cooperative.ts';
import { userName } from '../../lib/user-name.ts';
import { type Facts, type Finding, NAMED_MAX, ok, warn } from '../entry.ts';
import { isAsked } from '../tools/tool-version.ts';

/** The environment variable of every process of a job. */
const JOB_MARK = '\0SVC_JOB_ID=';
/** A process changes to the account before it executes the program, which has the variable. */
const LOOK_AGAIN_MS = 250;
/** Processes that are looked at before other work has its turn. */
const ENTRIES_PER_TURN = 64;
const OF_RUNNING_DAEMON = 'For the running daemon, run svc doctor --remote URL.';

/** Checks the account of the jobs, and whether other processes use it. */
export async function examineJobAccount({ settings, jobIdentity, isOfJob, clock }: Facts): Promise<Finding> {
  const identity = jobIdentity ?? (await findJobAccount(settings.jobUser));
  if (!isRoot() && identity?.account === null) return ownAccount(jobIdentity !== undefined);
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
  const missing = missingCapabilities();
  if (missing.length > 0)
    return warn(
      `Jobs run as ${account.name}, and the service lacks ${missing.join(', ')}: jobs may fail to start or to ` +
        'end. Add the capabilities, or run the service as an account that is not root.',
    );
  const others = await lastingForeigners(account, clock, isOfJob);
  if (others.length === 0 && jobIdentity !== undefined) return ok(`Jobs run as ${account.name}.`);
  // The settings of a running daemon are unknown to other processes, which only have their own.
  if (others.length === 0) return ok(`With these settings a daemon runs jobs as ${account.name}. ${OF_RUNNING_DAEMON}`);
  const named = others.slice(0, NAMED_MAX).join(', ');
  return warn(
    `Jobs run as ${account.name}, and ${others.length === 1 ? 'a process' : `${others.length} processes`} of ` +
      `that account ${others.length === 1 ? 'belongs' : 'belong'} to no job (pid ${named}): jobs may reach ` +
      'their data. End them, or set --job-user to a separate account.',
  );
}

function ownAccount(isDaemon: boolean): Finding {
  if (isDaemon) return ok(`Jobs run as ${userName()}, the account of the service.`);
  return ok(`With these settings a daemon of ${userName()} runs jobs as ${userName()}. ${OF_RUNNING_DAEMON}`);
}

async function lastingForeigners(account: Account, clock: Clock, isOfJob: Facts['isOfJob']): Promise<string[]> {
  const first = await foreignProcesses(account, isOfJob);
  if (first.length === 0) return first;
  await pause(clock, LOOK_AGAIN_MS);
  const second = new Set(await foreignProcesses(account, isOfJob));
  return first.filter((pid) => second.has(pid));
}

/** Processes of the account that no job has started. */
async function foreignProcesses({ uid }: Account, isOfJob: Facts['isOfJob']): Promise<string[]> {
  const found: string[] = [];
  const pids = processIds();
  for (const [index, pid] of pids.entries()) {
    if (index % ENTRIES_PER_TURN === ENTRIES_PER_TURN - 1) await nextTurn();
    try {
      // The kernel answers from memory: thousands of promises would take longer.
      if (statSync(`/proc/${pid}`).uid !== uid || isOfJob(Number(pid))) continue;
      if ((await hasVariable(pid)) || (await isOver(pid))) continue;
      found.push(pid);
    } catch {
      // It has ended.
    }
  }
  return found;
}

/** None on a system without /proc. */
function processIds(): string[] {
  try {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
}

/** False where the environment is closed to this process. */
async function hasVariable(pid: string): Promise<boolean> {
  const environment = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '');
  return `\0${environment}`.includes(JOB_MARK);
}

/** Whether it is dead, or of a tool that the doctor asks now, whose environment may be closed to this process. */
async function isOver(pid: string): Promise<boolean> {
  const line = await readFile(`/proc/${pid}/stat`, 'latin1');
  const [state = '', , , session] = line.slice(line.lastIndexOf(')') + 2).split(' ');
  return /^[ZX]/.test(state) || isAsked(Number(session));
}
