import fs from 'node:fs';
import { errorCode } from '../../../lib/error-code.ts';
import { O_PATH } from '../../../lib/open-path.ts';
import type { PathAccess, SandboxPolicy } from '../policy.ts';
import { SYSTEM_PATHS } from '../policy.ts';
import type { SystemCalls } from './system-call.ts';

/** Below this, the kernel can't restrict outbound TCP: the sandbox would be half of one, so it is refused. */
export const LANDLOCK_ABI_NEEDED = 4;

/**
 * From this one on, named unix sockets outside of the writable paths are closed by Landlock (RESOLVE_UNIX, Linux 7.1).
 */
export const LANDLOCK_ABI_OF_NAMED_SOCKETS = 9;

const EXECUTE = 1n << 0n;
const WRITE_FILE = 1n << 1n;
const READ_FILE = 1n << 2n;
const READ_DIR = 1n << 3n;
const TRUNCATE = 1n << 14n;
const IOCTL_DEV = 1n << 15n;
const RESOLVE_UNIX = 1n << 16n;
/** Rights 0 to 14, known since ABI 3. */
const RIGHTS_OF_ABI_3 = (1n << 15n) - 1n;
/** The rights that make sense for what is no directory; the kernel refuses a rule with others. */
const RIGHTS_OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV | RESOLVE_UNIX;
/** MAKE_CHAR and MAKE_BLOCK: no job makes a device file, wherever it may write. */
const MAKE_DEVICES = (1n << 6n) | (1n << 11n);

const BIND_TCP = 1n << 0n;
const CONNECT_TCP = 1n << 1n;
/** No abstract unix socket and no signal leaves the sandbox. */
const SCOPE_ALL = 3n;

const ASK_VERSION = 1;
const RULE_PATH_BENEATH = 1;
const RULE_NET_PORT = 2;

/** The ABI of the kernel's Landlock; 0 when it is missing or switched off. */
export function landlockAbi(system: SystemCalls): number {
  return Math.max(0, system.call(system.numbers.made.landlock_create_ruleset, 0, 0, ASK_VERSION));
}

function handledRights(abi: number): bigint {
  let rights = RIGHTS_OF_ABI_3;
  if (abi >= 5) rights |= IOCTL_DEV;
  if (abi >= LANDLOCK_ABI_OF_NAMED_SOCKETS) rights |= RESOLVE_UNIX;
  return rights;
}

const RIGHTS_OF_ACCESS: Readonly<Record<PathAccess | 'full', bigint>> = {
  read: READ_FILE | READ_DIR,
  execute: READ_FILE | READ_DIR | EXECUTE,
  device: READ_FILE | WRITE_FILE | TRUNCATE | IOCTL_DEV,
  full: ~MAKE_DEVICES,
};

function openFor(path: string, flags: number): number {
  try {
    return fs.openSync(path, flags);
  } catch (error) {
    if (errorCode(error) !== 'EACCES') throw error;
    throw new Error(
      `account ${process.geteuid?.()} cannot reach ${path}; each folder above it must let that account through`,
      { cause: error },
    );
  }
}

/** A ruleset under construction. Every method throws on a refusal of the kernel, so that the launcher fails closed. */
export class Ruleset {
  readonly #system: SystemCalls;
  readonly #abi: number;
  readonly #fd: number;

  private constructor(system: SystemCalls, abi: number, fd: number) {
    this.#system = system;
    this.#abi = abi;
    this.#fd = fd;
  }

  static create(system: SystemCalls, abi: number, files: bigint, net: bigint, scope: bigint): Ruleset {
    // The attribute grew with ABI 6; an older kernel refuses the longer form.
    const attribute = Buffer.alloc(abi >= 6 ? 24 : 16);
    attribute.writeBigUInt64LE(files, 0);
    attribute.writeBigUInt64LE(net, 8);
    if (abi >= 6) attribute.writeBigUInt64LE(scope, 16);
    const fd = system.call(system.numbers.made.landlock_create_ruleset, attribute, attribute.length, 0);
    if (fd < 0) throw new Error(`landlock_create_ruleset failed with error ${-fd}`);
    return new Ruleset(system, abi, fd);
  }

  /** Files, devices and, where the kernel can, signals and abstract sockets; with the system's own paths allowed. */
  static forFiles(system: SystemCalls, abi: number): Ruleset {
    const ruleset = Ruleset.create(system, abi, handledRights(abi), 0n, SCOPE_ALL);
    for (const { path, access } of SYSTEM_PATHS) {
      if (fs.existsSync(path)) ruleset.allowPath(path, access, O_PATH);
    }
    return ruleset;
  }

  /** TCP: no port may be bound; only the given ones, or any, may be connected to. */
  static forNetwork(system: SystemCalls, abi: number, connectPorts: SandboxPolicy['connectPorts']): Ruleset {
    if (connectPorts === 'any') return Ruleset.create(system, abi, 0n, BIND_TCP, 0n);
    const ruleset = Ruleset.create(system, abi, 0n, BIND_TCP | CONNECT_TCP, 0n);
    for (const port of connectPorts) ruleset.#allowPort(port);
    return ruleset;
  }

  /** Adds the paths of a job. Throws when one does not exist or is a link, which could lead anywhere. */
  allowJobPaths(policy: SandboxPolicy): void {
    const flags = O_PATH | fs.constants.O_NOFOLLOW;
    for (const path of policy.readable) this.allowPath(path, 'execute', flags);
    for (const path of policy.writable) this.allowPath(path, 'full', flags);
  }

  allowPath(path: string, access: PathAccess | 'full', flags: number): void {
    const fd = openFor(path, flags);
    try {
      const stat = fs.fstatSync(fd);
      if (stat.isSymbolicLink()) throw new Error(`${path} is a symbolic link`);
      const rights = RIGHTS_OF_ACCESS[access] & handledRights(this.#abi);
      const rule = Buffer.alloc(12);
      rule.writeBigUInt64LE(stat.isDirectory() ? rights : rights & RIGHTS_OF_FILES, 0);
      rule.writeInt32LE(fd, 8);
      this.#addRule(RULE_PATH_BENEATH, rule, path);
    } finally {
      fs.closeSync(fd);
    }
  }

  #allowPort(port: number): void {
    const rule = Buffer.alloc(16);
    rule.writeBigUInt64LE(CONNECT_TCP, 0);
    rule.writeBigUInt64LE(BigInt(port), 8);
    this.#addRule(RULE_NET_PORT, rule, `port ${port}`);
  }

  #addRule(type: number, rule: Buffer, what: string): void {
    const result = this.#system.call(this.#system.numbers.made.landlock_add_rule, this.#fd, type, rule, 0);
    if (result !== 0) throw new Error(`landlock_add_rule for ${what} failed with error ${-result}`);
  }

  /** Binds the calling thread, and whatever it executes, for ever. */
  restrict(): void {
    const result = this.#system.call(this.#system.numbers.made.landlock_restrict_self, this.#fd, 0);
    if (result !== 0) throw new Error(`landlock_restrict_self failed with error ${-result}`);
  }
}
