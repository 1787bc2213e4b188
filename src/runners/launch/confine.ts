import fs from 'node:fs';
import { O_PATH } from '../../lib/files/open-path.ts';
import {
  filesAttribute,
  LANDLOCK_ABI_NEEDED,
  LANDLOCK_ABI_OF_NAMED_SOCKETS,
  LANDLOCK_ABI_OF_PORTS,
  LANDLOCK_ABI_OF_TRUNCATION,
  landlockAbi,
  networkAttribute,
  pathRule,
  portRule,
  RULE_NET_PORT,
  RULE_PATH_BENEATH,
} from '../sandbox/kernel/landlock.ts';
import { landlockFacts } from '../sandbox/landlock-facts.ts';
import { whyNoLandlock } from '../sandbox/no-landlock.ts';
import { boundingSet } from '../sandbox/kernel/privileges.ts';
import { seccompProgram } from '../sandbox/kernel/seccomp.ts';
import type { SystemCalls } from '../sandbox/kernel/system-call.ts';
import type { PathAccess, SandboxPolicy } from '../sandbox/policy.ts';
import { SHARED_MEMORY, SYSTEM_PATHS } from '../sandbox/policy.ts';
import { mapMemory } from './memory.ts';
import { ANY_RESULT, CallList, LIST_BYTES, ZERO_OR_MORE } from './records.ts';

const AT_FDCWD = -100;
const O_CLOEXEC = 0o2000000;
const PR_CAPBSET_DROP = 24;
const PR_SET_NO_NEW_PRIVS = 38;
const PR_CAP_AMBIENT = 47;
const PR_CAP_AMBIENT_CLEAR_ALL = 4;
const CAPABILITY_VERSION_3 = 0x2008_0522;
const SECCOMP_SET_MODE_FILTER = 1;

const [ENOENT, EBADF, EACCES, ENOTDIR] = [2n, 9n, 13n, 20n];
/** A path of the system that does not exist, or not for this account, is skipped. */
const OPENED_OR_ABSENT = ZERO_OR_MORE | (1n << ENOENT) | (1n << EACCES) | (1n << ENOTDIR);
/** A skipped path has no descriptor. */
const DONE_OR_SKIPPED = ZERO_OR_MORE | (1n << EBADF);

/**
 * The descriptors that the child opens. It has closed all above its first ones, and the kernel always gives the lowest
 * free number. If a number were another one, a rule would be missing or refused, never wider.
 */
const FILES_FD = 4;
const OPENED_FD = 5;
const NETWORK_FD = 5;
/** The first of the folders outside of the run. The child has them from its start, and the tool does not. */
export const FOLDERS_FD = 10;

/** What the filters of two jobs can differ in. */
interface Sockets {
  readonly unixSockets: boolean;
  readonly internet: boolean;
}

/** The sandbox as calls of a list. The calls that are the same for every job are encoded once. */
export class Confinement {
  readonly abi: number;
  /** The reason why no sandboxed job can run here, or null. */
  readonly problem: string | null;
  readonly #system: SystemCalls;
  readonly #fixed: { readonly paths: CallList; readonly bounding: CallList; readonly privileges: CallList };
  /** By what `filterKey` makes of the sockets. */
  readonly #filters = new Map<string, bigint>();

  /** A test gives a lower ABI than that of the kernel. */
  constructor(system: SystemCalls, abi: number = landlockAbi(system)) {
    this.#system = system;
    this.abi = abi;
    this.problem = abi >= LANDLOCK_ABI_NEEDED ? null : whyNoLandlock(landlockFacts(system));
    const list = (): CallList => new CallList(mapMemory(system, LIST_BYTES));
    this.#fixed = { paths: list(), bounding: list(), privileges: list() };
    this.#addSystemPaths(this.#fixed.paths);
    this.#addBounding(this.#fixed.bounding);
    this.#addPrivileges(this.#fixed.privileges);
  }

  /** Its address. Made for the first job that needs it: the four would be 6 ms of each start. */
  #filter(sockets: Sockets): bigint {
    const key = filterKey(sockets);
    let made = this.#filters.get(key);
    if (made === undefined) {
      made = this.#makeFilter(sockets);
      this.#filters.set(key, made);
    }
    return made;
  }

  #makeFilter(sockets: Sockets): bigint {
    const limitsTruncation = this.abi >= LANDLOCK_ABI_OF_TRUNCATION;
    const program = seccompProgram(this.#system.numbers, { ...sockets, limitsTruncation });
    const header = Buffer.alloc(16);
    header.writeUInt16LE(program.length / 8, 0);
    header.writeBigUInt64LE(this.#fixed.privileges.copy(program), 8);
    return this.#fixed.privileges.copy(header);
  }

  /** Adds the calls before the wait: they need neither the account nor the paths of the job. */
  addEarly(list: CallList): void {
    list.append(this.#fixed.paths);
  }

  /**
   * Adds the calls that empty the bounding set, before a change of the account takes away the right to. As root this
   * set decides what the tool gets when it is executed, and with CAP_PERFMON in it /proc/<daemon>/environ stays
   * readable in spite of Landlock. As another user a program gains no capability (no new privileges), and may not
   * change the set.
   */
  addBoundingSet(list: CallList): void {
    list.append(this.#fixed.bounding);
  }

  /**
   * Adds the calls after the change of the account. Throws for a path that does not exist or is a link, and for ports
   * where the kernel cannot limit TCP to them.
   */
  addJob(list: CallList, policy: SandboxPolicy, uid: number): void {
    for (const path of policy.readable) this.#addPath(list, path, 'execute', uid);
    for (const path of policy.writable) this.#addPath(list, path, 'full', uid);
    for (const [at, path] of (policy.outside?.paths ?? []).entries()) this.#addOutside(list, path, FOLDERS_FD + at);
    for (const path of policy.sockets ?? []) this.#addSocket(list, path, uid);
    if (policy.sharedMemory === true) this.#addPath(list, SHARED_MEMORY, 'named', uid);
    const rulesets = this.#addNetwork(list, policy.connectPorts) ? [FILES_FD, NETWORK_FD] : [FILES_FD];
    list.append(this.#fixed.privileges);
    const unixSockets = policy.unixSockets === true || this.abi >= LANDLOCK_ABI_OF_NAMED_SOCKETS;
    const filter = this.#filter({ unixSockets, internet: policy.connectPorts !== 'none' });
    const { seccomp, landlock_restrict_self } = this.#system.numbers.made;
    for (const fd of rulesets) list.call({ name: 'entering Landlock' }, landlock_restrict_self, [fd, 0]);
    const step = { name: 'installing the filter of system calls' };
    list.call(step, seccomp, [SECCOMP_SET_MODE_FILTER, 0, filter]);
  }

  #addSystemPaths(list: CallList): void {
    const { landlock_create_ruleset, landlock_add_rule, openat, close } = this.#system.numbers.made;
    const attribute = filesAttribute(this.abi);
    const made = { name: 'creating a ruleset for files' };
    list.call(made, landlock_create_ruleset, [list.copy(attribute), attribute.length, 0]);
    for (const { path, access, isFolder = access !== 'device' } of SYSTEM_PATHS) {
      const step = { name: `allowing ${path}` };
      const rule = list.copy(pathRule(this.abi, access, isFolder, OPENED_FD));
      list.call(step, openat, [AT_FDCWD, list.text(path), O_PATH | O_CLOEXEC], OPENED_OR_ABSENT);
      list.call(step, landlock_add_rule, [FILES_FD, RULE_PATH_BENEATH, rule, 0], DONE_OR_SKIPPED);
      list.call(step, close, [OPENED_FD], DONE_OR_SKIPPED);
    }
  }

  #addPath(list: CallList, path: string, access: PathAccess | 'full', uid: number): void {
    const stats = fs.lstatSync(path);
    if (stats.isSymbolicLink()) throw new Error(`${path} is a symbolic link`);
    const { landlock_add_rule, openat, close } = this.#system.numbers.made;
    const step = {
      name: `allowing ${path}`,
      denied: `account ${uid} cannot reach ${path}; each folder above it must let that account through`,
    };
    // If a link took its place since, it is not followed: a rule for the link itself allows nothing.
    list.call(step, openat, [AT_FDCWD, list.text(path), O_PATH | O_CLOEXEC | fs.constants.O_NOFOLLOW]);
    const rule = list.copy(pathRule(this.abi, access, stats.isDirectory(), OPENED_FD));
    list.call(step, landlock_add_rule, [FILES_FD, RULE_PATH_BENEATH, rule, 0]);
    list.call(step, close, [OPENED_FD]);
  }

  #addSocket(list: CallList, path: string, uid: number): void {
    if (this.abi < LANDLOCK_ABI_OF_NAMED_SOCKETS)
      throw new Error(
        `the sandbox of this kernel cannot open the socket ${path} alone (Landlock ABI ${this.abi}; ` +
          `${LANDLOCK_ABI_OF_NAMED_SOCKETS} can); only a privileged job can use it here`,
      );
    this.#addPath(list, path, 'socket', uid);
  }

  /** The rule takes the descriptor that was checked: whatever has the path by now changes nothing. */
  #addOutside(list: CallList, path: string, fd: number): void {
    const rule = list.copy(pathRule(this.abi, 'outside', true, fd));
    const { landlock_add_rule } = this.#system.numbers.made;
    list.call({ name: `allowing ${path}` }, landlock_add_rule, [FILES_FD, RULE_PATH_BENEATH, rule, 0]);
  }

  /** Returns whether there is a ruleset for TCP. An older kernel has no such ruleset. */
  #addNetwork(list: CallList, connectPorts: SandboxPolicy['connectPorts']): boolean {
    const ports = typeof connectPorts === 'string' ? [] : connectPorts;
    if (this.abi < LANDLOCK_ABI_OF_PORTS) {
      if (typeof connectPorts !== 'string') throw new Error('this kernel cannot limit TCP to ports');
      return false;
    }
    const { landlock_create_ruleset, landlock_add_rule } = this.#system.numbers.made;
    const attribute = networkAttribute(this.abi, connectPorts);
    const made = { name: 'creating a ruleset for TCP' };
    list.call(made, landlock_create_ruleset, [list.copy(attribute), attribute.length, 0]);
    for (const port of ports) {
      const step = { name: `allowing port ${port}` };
      list.call(step, landlock_add_rule, [NETWORK_FD, RULE_NET_PORT, list.copy(portRule(port)), 0]);
    }
    return true;
  }

  #addBounding(list: CallList): void {
    const passes = process.geteuid?.() === 0 ? ZERO_OR_MORE : ANY_RESULT;
    const step = { name: 'emptying the bounding set' };
    for (const capability of boundingSet(this.#system))
      list.call(step, this.#system.numbers.made.prctl, [PR_CAPBSET_DROP, capability], passes);
  }

  /** Drops every capability, and keeps executed files from giving new ones. */
  #addPrivileges(list: CallList): void {
    this.addCapabilities(list);
    const { prctl } = this.#system.numbers.made;
    list.call({ name: 'refusing new privileges' }, prctl, [PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0]);
  }

  /** Drops every capability, also those that an executed program would inherit. */
  addCapabilities(list: CallList): void {
    const { prctl, capset } = this.#system.numbers.made;
    const step = { name: 'dropping capabilities' };
    list.call(step, prctl, [PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0]);
    const header = Buffer.alloc(8);
    header.writeUInt32LE(CAPABILITY_VERSION_3, 0);
    list.call(step, capset, [list.copy(header), list.copy(Buffer.alloc(24))]);
  }
}

function filterKey({ unixSockets, internet }: Sockets): string {
  return `${unixSockets} ${internet}`;
}
