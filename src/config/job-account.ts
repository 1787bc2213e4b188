import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import type { Account, AccountIds } from '../domain/jobs/account.ts';
import { pause, systemClock } from '../lib/clock.ts';
import { userName } from '../lib/user-name.ts';
import { hiddenProcesses, missingCapabilities } from './account-rights.ts';
import { refuseSetting } from './settings/refuse-setting.ts';

const run = promisify(execFile);

const FLAG = 'job-user';

/** The account of the jobs of a daemon that is root, by default. */
export const JOB_ACCOUNT = 'gatehouse-job';
/** The fallback. Other services use it too, so it isolates less. */
const FALLBACK_ACCOUNT = 'nobody';
/** The account that the kernel uses for unmapped owners. */
const NOBODY_ID = 65_534;
/** Where no account of jobs is known. */
export const WITHOUT_RIGHTS: AccountIds = { uid: NOBODY_ID, gid: NOBODY_ID };

const PASSWD = '/etc/passwd';
/** The folders of these programs, also for a daemon that was started with a minimal PATH. */
const SYSTEM_PATH = '/usr/sbin:/usr/bin:/sbin:/bin';
/** Adding an account writes five files; a directory service that does not answer must not block the start. */
const PROGRAM_WITHIN_MS = 10_000;
/** Another daemon that starts now holds the lock of the user database for some milliseconds. */
const CREATE_ATTEMPTS = 3;
const CREATE_PAUSE_MS = 300;

const HOME = '/nonexistent';
const SHELL = '/usr/sbin/nologin';

/** Ways to add a system account: of most distributions, of Debian, and of Alpine. The first available one is used. */
const CREATE_PROGRAMS: readonly (readonly string[])[] = [
  ['useradd', '--system', '--user-group', '--no-create-home', '--home-dir', HOME, '--shell', SHELL, JOB_ACCOUNT],
  ['adduser', '--system', '--group', '--no-create-home', '--home', HOME, '--shell', SHELL, JOB_ACCOUNT],
  ['addgroup', '-S', JOB_ACCOUNT],
  ['adduser', '-S', '-D', '-H', '-h', HOME, '-s', SHELL, '-G', JOB_ACCOUNT, JOB_ACCOUNT],
];

/** The account of the jobs. */
export interface JobIdentity {
  /** Null: the account of the daemon. */
  readonly account: Account | null;
  /** The default account could not be created, so the fallback is used. */
  readonly isFallback: boolean;
}

const OWN: JobIdentity = { account: null, isFallback: false };

export function isRoot(): boolean {
  return process.geteuid?.() === 0;
}

/**
 * The account for `--job-user`. Without it, for root, the default account, which is created if it does not exist; for
 * another user its own. Throws invalid_argument for an account that does not exist or that this daemon cannot use.
 */
export async function prepareJobAccount(jobUser: string | null): Promise<JobIdentity> {
  return (await findJobAccount(jobUser)) ?? (await createJobAccount()) ?? fallback();
}

/** The same without creating an account; null where the default account does not exist yet. */
export async function findJobAccount(jobUser: string | null): Promise<JobIdentity | null> {
  if (!isRoot()) return findForUser(jobUser);
  const account = await findAccount(jobUser ?? JOB_ACCOUNT);
  if (account === null) {
    if (jobUser === null) return null;
    refuseSetting(FLAG, `account ${jobUser} does not exist; create it, or omit the setting to use ${JOB_ACCOUNT}`);
  }
  if (account.uid === 0 && jobUser !== null) return OWN;
  if (isOfRoot(account))
    refuseSetting(FLAG, `account ${account.name} has the user or the group of root; name an account that has neither`);
  return { account, isFallback: false };
}

/** Where this process is not root. Another account needs rights that this process has to be started with. */
async function findForUser(jobUser: string | null): Promise<JobIdentity> {
  if (jobUser === null || jobUser === userName()) return OWN;
  const missing = missingCapabilities();
  if (missing.length > 0) {
    refuseSetting(
      FLAG,
      `this daemon runs as ${userName()} and cannot start jobs as ${jobUser}: it lacks ${missing.join(', ')}; add ` +
        'AmbientCapabilities=CAP_SETUID CAP_SETGID CAP_KILL to its unit, or omit the setting',
    );
  }
  const hidden = hiddenProcesses();
  if (hidden !== null) refuseSetting(FLAG, `jobs cannot run as another account than ${userName()}: ${hidden}`);
  const account = await findAccount(jobUser);
  if (account === null)
    refuseSetting(FLAG, `account ${jobUser} does not exist; create it, or omit the setting to use ${userName()}`);
  if (account.uid === process.geteuid?.()) return OWN;
  if (isOfRoot(account) || account.gid === process.getegid?.()) {
    refuseSetting(
      FLAG,
      `account ${jobUser} has the user or the group of root, or the group of this daemon; name an account that ` +
        'has a separate group',
    );
  }
  return { account, isFallback: false };
}

async function createJobAccount(): Promise<JobIdentity | null> {
  for (let attempt = 1; attempt <= CREATE_ATTEMPTS; attempt += 1) {
    for (const words of CREATE_PROGRAMS) {
      await output(words);
      const account = await findAccount(JOB_ACCOUNT);
      if (account !== null && !isOfRoot(account)) return { account, isFallback: false };
    }
    if (attempt < CREATE_ATTEMPTS) await pause(systemClock, CREATE_PAUSE_MS);
  }
  return null;
}

async function fallback(): Promise<JobIdentity> {
  const found = await findAccount(FALLBACK_ACCOUNT);
  const usable = found !== null && !isOfRoot(found);
  return { account: usable ? found : { name: FALLBACK_ACCOUNT, ...WITHOUT_RIGHTS }, isFallback: true };
}

function isOfRoot({ uid, gid }: Account): boolean {
  return uid === 0 || gid === 0;
}

/** Read from the file, or with `getent` for accounts of a directory service. */
async function findAccount(name: string): Promise<Account | null> {
  if (!/^[A-Za-z0-9_][A-Za-z0-9_.@-]{0,63}$/.test(name)) refuseSetting(FLAG, 'expected the name of an account');
  const local = await readFile(PASSWD, 'utf8').catch(() => '');
  return accountIn(local, name) ?? accountIn(await output(['getent', 'passwd', name]), name);
}

/** Finds the account in the text of a passwd file. */
export function accountIn(passwd: string, name: string): Account | null {
  for (const line of passwd.split('\n')) {
    const [entry, , uid = '', gid = ''] = line.split(':');
    if (entry === name && /^\d{1,10}$/.test(uid) && /^\d{1,10}$/.test(gid))
      return { name, uid: Number(uid), gid: Number(gid) };
  }
  return null;
}

/** The output; empty if the program is missing, fails or exceeds the time limit. */
async function output([program = '', ...args]: readonly string[]): Promise<string> {
  try {
    const { stdout } = await run(program, args, {
      env: { PATH: SYSTEM_PATH },
      timeout: PROGRAM_WITHIN_MS,
      killSignal: 'SIGKILL',
      cwd: '/',
    });
    return stdout;
  } catch {
    return '';
  }
}
