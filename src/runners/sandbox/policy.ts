import { isWithin } from '../../lib/within.ts';

/**
 * What a program that is limited to some TCP ports gets where the kernel cannot limit it (Landlock below ABI 4):
 *
 * - `refused`: it is not started, unless the operator allows unfiltered egress. Then it reaches every port.
 * - `offline`: it gets no internet socket. For a program that was not given a port on request.
 * - `any`: it reaches every port.
 */
export type Unfiltered = 'refused' | 'offline' | 'any';

/** Directories that an order lets a job write. */
export interface OutsideFolders {
  readonly paths: readonly string[];
  /** Files and directories of the service: no path may hold one or lie in one. */
  readonly kept: readonly string[];
}

/** What a sandboxed job may reach. Everything else of the file system and of outbound TCP is refused by the kernel. */
export interface SandboxPolicy {
  /** Absolute paths to read and to execute from, besides the system's own. Each must exist. */
  readonly readable: readonly string[];
  /** Absolute paths with full access. Each must exist. */
  readonly writable: readonly string[];
  /** Directories outside its run that an order names; checked and opened at the start, see `openOutside`. */
  readonly outside?: OutsideFolders;
  /**
   * TCP ports that may be connected to; UDP is allowed, binding a TCP port is refused. `none`: no internet socket at
   * all, so no UDP and no name resolution either.
   */
  readonly connectPorts: readonly number[] | 'any' | 'none';
  /** What it gets where the kernel cannot limit TCP to these ports; refused by default. */
  readonly unfiltered?: Unfiltered;
  /** The program has to share the account of this process, because it needs a file of that account; no by default. */
  readonly needsOwnAccount?: boolean;
  /**
   * Whether the job may make unix sockets; without it, no by default. Below Landlock ABI 9 the kernel can't restrict
   * which named socket of the machine they connect to, so `socket(AF_UNIX)` is refused as a whole. `socketpair` always
   * works.
   */
  readonly unixSockets?: boolean;
  /**
   * Named sockets that it may connect to, and no others; none by default. Below Landlock ABI 9 the kernel cannot open a
   * single one, and a program that needs one is refused.
   */
  readonly sockets?: readonly string[];
  /**
   * Whether the job may make, open and remove files in /dev/shm by their names; no by default. Python needs it for
   * semaphores. It cannot list the folder, which all jobs share.
   */
  readonly sharedMemory?: boolean;
}

export type PathAccess = 'execute' | 'read' | 'device' | 'named' | 'outside' | 'socket';
/** The folder of POSIX semaphores and shared memory. */
export const SHARED_MEMORY = '/dev/shm';

/**
 * What every job may reach of the system. Landlock can only allow, never take out again: a path in this table that
 * holds the data directory would open it, see `pathsThatExpose`. A path that does not exist is skipped.
 */
export const SYSTEM_PATHS: readonly {
  readonly path: string;
  readonly access: PathAccess;
  /** A device is not a folder either. */
  readonly isFolder?: false;
}[] = [
  { path: '/usr', access: 'execute' },
  { path: '/lib', access: 'execute' },
  { path: '/lib32', access: 'execute' },
  { path: '/lib64', access: 'execute' },
  { path: '/bin', access: 'execute' },
  { path: '/sbin', access: 'execute' },
  { path: '/etc', access: 'read' },
  { path: '/proc', access: 'read' },
  { path: '/sys', access: 'read' },
  // With systemd-resolved, /etc/resolv.conf is a link to here: without it no name resolves. Named twice, because a rule
  // belongs to the file that it was made for, and the file is replaced when the network changes.
  { path: '/run/systemd/resolve', access: 'read' },
  { path: '/etc/resolv.conf', access: 'read', isFolder: false },
  { path: '/dev/null', access: 'device' },
  { path: '/dev/zero', access: 'device' },
  { path: '/dev/full', access: 'device' },
  { path: '/dev/urandom', access: 'device' },
  { path: '/dev/random', access: 'device' },
  { path: '/dev/tty', access: 'device' },
  { path: '/dev/ptmx', access: 'device' },
];

/**
 * The paths of the system table and of a policy that hold `dataDir` and so would open it to the job. All paths are
 * taken as resolved (no links). Empty when the data directory is safe from this policy.
 */
export function pathsThatExpose(dataDir: string, policy: Pick<SandboxPolicy, 'readable' | 'writable'>): string[] {
  const all = [...SYSTEM_PATHS.map((row) => row.path), ...policy.readable, ...policy.writable];
  return all.filter((path) => isWithin(dataDir, path));
}
