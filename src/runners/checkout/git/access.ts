import { execFile } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { userInfo } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { promisify } from 'node:util';
import { findProgram } from '../../../lib/programs/find-program.ts';
import type { GitReach } from './process.ts';

/** What git is given for one URL: nothing of the machine but what its transport needs. */
const PORTS: Readonly<Record<string, number>> = { 'https:': 443, 'http:': 80, 'ssh:': 22 };
const SCP = /^(?<user>[^/@:]+)@(?<host>\[[^\]]*\]|[^/@:]+):/;
/** ssh prints its configuration at once. */
const SSH_WITHIN_MS = 5_000;
const SSH_SAID_BYTES_MAX = 64 * 1024;
const SSH_DEFAULT_KEYS: readonly string[] = ['id_rsa', 'id_ecdsa', 'id_ecdsa_sk', 'id_ed25519', 'id_ed25519_sk'];
/** In the directory .ssh of the account: read by every ssh. */
const SSH_FILES: readonly string[] = ['config', 'config.d', 'known_hosts', 'known_hosts2'];

type SshSettings = ReadonlyMap<string, readonly string[]>;
const NO_SETTINGS: SshSettings = new Map();

const run = promisify(execFile);

/**
 * The files that git may read and the ports that it may connect to in order to fetch `url`, which was checked before: a
 * local repository, the port of the server, and for ssh the configuration, keys and known hosts of this process's
 * account.
 */
export async function reachOf(url: string, searchPath: string): Promise<GitReach> {
  const git = await programFile('git', searchPath);
  const scp = url.includes('://') ? undefined : SCP.exec(url)?.groups;
  if (scp !== undefined)
    return sshReach({ user: scp['user'] ?? '', host: scp['host'] ?? '', port: null }, searchPath, git);
  const { protocol, username, hostname, port, pathname } = new URL(url);
  if (protocol === 'file:')
    return { readable: [...git, ...existing([decodeURIComponent(pathname)])], connectPorts: 'none' };
  if (protocol === 'ssh:')
    return sshReach({ user: username, host: hostname, port: port === '' ? null : Number(port) }, searchPath, git);
  const connectPort = port === '' ? PORTS[protocol] : Number(port);
  // As another account git may reach any port where the kernel cannot limit it: a plan of this source may, too.
  return { readable: git, connectPorts: connectPort === undefined ? 'none' : [connectPort], unfiltered: 'any' };
}

interface SshTarget {
  readonly user: string;
  readonly host: string;
  readonly port: number | null;
}

async function sshReach(target: SshTarget, searchPath: string, git: readonly string[]): Promise<GitReach> {
  const ssh = await programFile('ssh', searchPath);
  const [program] = ssh;
  const settings = program === undefined ? NO_SETTINGS : await sshSettings(program, target, searchPath);
  const { homedir } = userInfo();
  const own = join(homedir, '.ssh');
  const named = ['identityfile', 'certificatefile', 'userknownhostsfile'].flatMap((key) => settings.get(key) ?? []);
  const keys = named.map((name) =>
    name.startsWith('~/') ? join(homedir, name.slice(2)) : name.replaceAll('%d', homedir),
  );
  if (keys.length === 0) keys.push(...SSH_DEFAULT_KEYS.map((name) => join(own, name)));
  const files = [
    ...SSH_FILES.map((name) => join(own, name)),
    ...keys.flatMap((key) => [key, `${key}.pub`, `${key}-cert.pub`]),
  ];
  const [configured] = settings.get('port') ?? [];
  const port = target.port ?? Number(configured ?? PORTS['ssh:']);
  return {
    readable: [...git, ...ssh, ...existing(files)],
    connectPorts: [...new Set([port, ...jumpPorts(settings)])],
    // With the account and the keys of this process only the operator can allow more than these ports.
    unfiltered: 'refused',
  };
}

/** With a jump host, it is that one that is connected to. */
function jumpPorts(settings: SshSettings): number[] {
  const jumps = settings.get('proxyjump') ?? [];
  return jumps.flatMap((jump) => jump.split(',')).map((jump) => Number(/:(\d{1,5})$/.exec(jump)?.[1] ?? PORTS['ssh:']));
}

/**
 * What ssh itself makes of the account's configuration for this host; empty when it does not say. It only prints:
 * nothing of a repository is involved, and nothing is connected to.
 */
async function sshSettings(program: string, { user, host, port }: SshTarget, searchPath: string): Promise<SshSettings> {
  const settings = new Map<string, string[]>();
  const words = [
    '-G',
    ...(port === null ? [] : ['-p', String(port)]),
    ...(user === '' ? [] : ['-l', user]),
    '--',
    host.replace(/^\[(.*)\]$/, '$1'),
  ];
  const said = await run(program, words, {
    env: { PATH: searchPath, LC_ALL: 'C' },
    cwd: '/',
    timeout: SSH_WITHIN_MS,
    maxBuffer: SSH_SAID_BYTES_MAX,
  }).catch(() => null);
  for (const line of said?.stdout.split('\n') ?? []) {
    const [key = '', ...values] = line.trim().split(' ');
    settings.set(key, [...(settings.get(key) ?? []), ...values]);
  }
  return settings;
}

function existing(paths: readonly string[]): string[] {
  const found = paths.filter(isAbsolute).flatMap((path) => {
    try {
      return [realpathSync(path)];
    } catch {
      return [];
    }
  });
  return [...new Set(found)];
}

/** The file of a program, so that the sandbox opens it also where it lies outside the directories of the system. */
async function programFile(name: string, searchPath: string): Promise<string[]> {
  const path = await findProgram(name, searchPath);
  return path === null ? [] : existing([path]);
}
