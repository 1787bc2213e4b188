/**
 * What some tests need of a machine beyond npm and Node: programs, rights and parts of the kernel. A test names them in
 * its options, `{ skip: needs('git') }`, and is left out where one is missing.
 */
import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, globSync, readFileSync } from 'node:fs';
import { networkInterfaces, tmpdir } from 'node:os';
import { delimiter, isAbsolute, join } from 'node:path';
import { closedFolder } from '../../scripts/tests/open-folder.ts';

export const SSHD = '/usr/sbin/sshd';
/** Where programs are looked for that are not on the PATH of every user. */
export const SERVERS = `${process.env['PATH'] ?? ''}:/usr/sbin`;
export const CHROMIUM = '/usr/bin/chromium';
export const LIBFAKETIME = globSync('/usr/lib/*/faketime/libfaketimeMT.so.1')[0];
/** The C library of Alpine. */
export const MUSL = globSync('/lib/ld-musl-*.so.1')[0];
/** The folder of the programs of Debian's PostgreSQL server, the newest one. */
export const POSTGRESQL_BIN = globSync('/usr/lib/postgresql/*/bin').toSorted().at(-1);
/** A user other than root gets the mounts in a user namespace. */
export const OWN_MOUNTS: readonly string[] = process.getuid?.() === 0 ? ['-m'] : ['-U', '-r', '-m'];

/** With the value 1, what this machine lacks is a failure. */
export const ALL_VARIABLE = 'GATEHOUSE_TEST_ALL';
export const IS_ALL_REQUIRED = process.env[ALL_VARIABLE] === '1';

interface TestTool {
  /** The Debian package; null where Debian has none. */
  readonly debianPackage: string | null;
  readonly isThere: () => boolean;
  /** Why it is missing, where the name does not say that. */
  readonly cause?: string;
}

/** In a separate process: the demo uses this table too, and Node warns of what the probe loads. */
const LANDLOCK_PROBE = [
  '--disable-warning=ExperimentalWarning',
  join(import.meta.dirname, 'kernels', 'landlock-probe.ts'),
];

const CAP_SYS_PTRACE = 19;
const CLOSED = closedFolder(import.meta.dirname);

/** Either of them. */
export const TERRAFORM = 'terraform or tofu';

const STRACE_PROBE = ['-f', '-e', 'inject=fsync:error=EIO:when=99', process.execPath, '--version'];
const MOUNT_PROBE = [...OWN_MOUNTS, 'mount', '-t', 'tmpfs', 'gatehouse', tmpdir()];

const NETWORK_PROBE = [...OWN_MOUNTS, '-n', 'ip', 'link', 'set', 'lo', 'up'];

const TEST_TOOLS = {
  chromium: { debianPackage: 'chromium', isThere: () => existsSync(CHROMIUM) },
  'prometheus-alertmanager': onPath('prometheus-alertmanager'),
  nginx: { debianPackage: 'nginx', isThere: () => find('nginx', SERVERS) !== null },
  curl: onPath('curl'),
  git: onPath('git'),
  npm: onPath('npm'),
  dash: onPath('dash'),
  busybox: onPath('busybox'),
  zsh: onPath('zsh'),
  fish: onPath('fish'),
  groff: { ...onPath('groff'), debianPackage: 'groff-base' },
  ssh: { ...onPath('ssh'), debianPackage: 'openssh-client' },
  sshd: { debianPackage: 'openssh-server', isThere: () => existsSync(SSHD) },
  'ansible-inventory': { ...onPath('ansible-inventory'), debianPackage: 'ansible-core' },
  'ansible-playbook': { ...onPath('ansible-playbook'), debianPackage: 'ansible-core' },
  openssl: onPath('openssl'),
  'x86_64-linux-gnu-as': { ...onPath('x86_64-linux-gnu-as'), debianPackage: 'binutils-x86-64-linux-gnu' },
  'aarch64-linux-gnu-as': { ...onPath('aarch64-linux-gnu-as'), debianPackage: 'binutils-aarch64-linux-gnu' },
  'qemu-aarch64': { ...onPath('qemu-aarch64'), debianPackage: 'qemu-user' },
  musl: { debianPackage: 'musl', isThere: () => MUSL !== undefined },
  // Its clients refuse a server of a newer version, so that the tests of backups start a server of Debian's.
  pg_dump: { ...onPath('pg_dump'), debianPackage: 'postgresql-client' },
  'postgresql server': { debianPackage: 'postgresql', isThere: () => POSTGRESQL_BIN !== undefined },
  script: { ...onPath('script'), debianPackage: 'bsdutils' },
  perl: { ...onPath('perl'), debianPackage: 'perl-base' },
  prlimit: { ...onPath('prlimit'), debianPackage: 'util-linux' },
  // In some containers it is there, and may not trace another process.
  strace: { debianPackage: 'strace', isThere: () => succeeds('strace', STRACE_PROBE) },
  faketime: { debianPackage: 'libfaketime', isThere: () => LIBFAKETIME !== undefined },
  'mount namespaces': { debianPackage: 'util-linux', isThere: () => succeeds('unshare', MOUNT_PROBE) },
  'network namespaces': { debianPackage: 'iproute2', isThere: () => succeeds('unshare', NETWORK_PROBE) },
  ping: { ...onPath('ping'), debianPackage: 'iputils-ping' },
  Linux: { debianPackage: null, isThere: () => process.platform === 'linux' },
  // What a sandboxed job needs, unless it runs as another account.
  'Landlock ABI 4': { debianPackage: null, isThere: () => succeeds(process.execPath, LANDLOCK_PROBE) },
  root: { debianPackage: null, isThere: () => process.geteuid?.() === 0 },
  // Another account runs programs of it.
  'a checkout that every account reaches': {
    debianPackage: null,
    isThere: () => CLOSED === null,
    cause: `${CLOSED ?? ''} is closed`,
  },
  // Root reads the environment of another account's processes with it. An ordinary account has its own processes only.
  CAP_SYS_PTRACE: { debianPackage: null, isThere: () => process.geteuid?.() !== 0 || hasCapability(CAP_SYS_PTRACE) },
  // The filter of an engine of containers stays on all programs.
  'no filter of system calls': { debianPackage: null, isThere: () => statusField('Seccomp') === '0' },
  'an address that is not loopback': { debianPackage: null, isThere: hasOutsideAddress },
  [TERRAFORM]: { debianPackage: null, isThere: () => ['terraform', 'tofu'].some((name) => find(name) !== null) },
} as const satisfies Readonly<Record<string, TestTool>>;

export type ToolName = keyof typeof TEST_TOOLS;

/** Begins the reason of a test that was left out for this; names follow, with commas between them. */
export const MISSING_PREFIX = 'missing: ';

const found = new Map<ToolName, boolean>();

function isThere(name: ToolName): boolean {
  const known = found.get(name) ?? TEST_TOOLS[name].isThere();
  found.set(name, known);
  return known;
}

/** For the option `skip` of a test: the missing ones of these tools, or false where all are there. */
export function needs(...names: readonly ToolName[]): string | false {
  const missing = names.filter((name) => !isThere(name)).map(described);
  return missing.length > 0 && `${MISSING_PREFIX}${missing.join(', ')}`;
}

function described(name: ToolName): string {
  const { cause }: TestTool = TEST_TOOLS[name];
  return cause === undefined ? name : `${name} (${cause})`;
}

/** The Debian packages of the tools that this machine does not have. */
export function missingPackages(): string[] {
  const missing = Object.values<TestTool>(TEST_TOOLS).filter(({ isThere }) => !isThere());
  return missing.flatMap(({ debianPackage }) => debianPackage ?? []);
}

function onPath(program: string): TestTool {
  return { debianPackage: program, isThere: () => find(program) !== null };
}

/** The first executable of this name on the PATH. */
export function find(program: string, searchPath = process.env['PATH'] ?? ''): string | null {
  const candidates = searchPath
    .split(delimiter)
    .filter(isAbsolute)
    .map((folder) => join(folder, program));
  return candidates.find(isExecutable) ?? null;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function succeeds(program: string, args: readonly string[]): boolean {
  return spawnSync(program, args, { stdio: 'ignore' }).status === 0;
}

/** A field of /proc/self/status; empty where there is no such file or field. */
function statusField(name: string): string {
  const path = '/proc/self/status';
  return existsSync(path) ? (new RegExp(`^${name}:\\s*(\\S*)`, 'm').exec(readFileSync(path, 'utf8'))?.[1] ?? '') : '';
}

function hasOutsideAddress(): boolean {
  return Object.values(networkInterfaces()).some((all) => all?.some(({ internal }) => !internal));
}

function hasCapability(number: number): boolean {
  return ((BigInt(`0x0${statusField('CapEff')}`) >> BigInt(number)) & 1n) === 1n;
}
