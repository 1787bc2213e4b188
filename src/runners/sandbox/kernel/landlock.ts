import type { PathAccess, SandboxPolicy } from '../policy.ts';
import type { SystemCalls } from './system-call.ts';

/** The first one, Linux 5.13. It restricts files. */
export const LANDLOCK_ABI_NEEDED = 1;

/** From this one on (Linux 5.19) files can be moved between folders of the sandbox; before, the kernel refuses it. */
const LANDLOCK_ABI_OF_MOVES = 2;

/** From this one on (Linux 6.2) Landlock restricts who may cut a file short; before, the filter has to. */
export const LANDLOCK_ABI_OF_TRUNCATION = 3;

/** From this one on (Linux 6.7) Landlock limits TCP to ports; before, see `../egress.ts`. */
export const LANDLOCK_ABI_OF_PORTS = 4;

/**
 * From this one on, named unix sockets outside of the writable paths are closed by Landlock (RESOLVE_UNIX, Linux 7.1).
 */
export const LANDLOCK_ABI_OF_NAMED_SOCKETS = 9;

const EXECUTE = 1n << 0n;
const WRITE_FILE = 1n << 1n;
const READ_FILE = 1n << 2n;
const READ_DIR = 1n << 3n;
const REMOVE_FILE = 1n << 5n;
const MAKE_REG = 1n << 8n;
const REFER = 1n << 13n;
const TRUNCATE = 1n << 14n;
const IOCTL_DEV = 1n << 15n;
const RESOLVE_UNIX = 1n << 16n;
/** Rights 0 to 12. */
const RIGHTS_OF_ABI_1 = (1n << 13n) - 1n;
/** The rights that make sense for what is no directory; the kernel refuses a rule with others. */
const RIGHTS_OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV | RESOLVE_UNIX;
/** MAKE_CHAR and MAKE_BLOCK: no job makes a device file, wherever it may write. */
const MAKE_DEVICES = (1n << 6n) | (1n << 11n);

const BIND_TCP = 1n << 0n;
const CONNECT_TCP = 1n << 1n;
/** No abstract unix socket and no signal leaves the sandbox. */
const SCOPE_ALL = 3n;

const ASK_VERSION = 1;
export const RULE_PATH_BENEATH = 1;
export const RULE_NET_PORT = 2;

/** The ABI of the kernel's Landlock; 0 when it is missing or switched off. */
export function landlockAbi(system: SystemCalls): number {
  return Math.max(0, system.call(system.numbers.made.landlock_create_ruleset, 0, 0, ASK_VERSION));
}

/** The error number that the call for the version of Landlock fails with; 0 if it does not. */
export function landlockError(system: SystemCalls): number {
  return Math.max(0, -system.call(system.numbers.made.landlock_create_ruleset, 0, 0, ASK_VERSION));
}

function handledRights(abi: number): bigint {
  let rights = RIGHTS_OF_ABI_1;
  if (abi >= LANDLOCK_ABI_OF_MOVES) rights |= REFER;
  if (abi >= LANDLOCK_ABI_OF_TRUNCATION) rights |= TRUNCATE;
  if (abi >= 5) rights |= IOCTL_DEV;
  if (abi >= LANDLOCK_ABI_OF_NAMED_SOCKETS) rights |= RESOLVE_UNIX;
  return rights;
}

const RIGHTS_OF_ACCESS: Readonly<Record<PathAccess | 'full', bigint>> = {
  read: READ_FILE | READ_DIR,
  execute: READ_FILE | READ_DIR | EXECUTE,
  device: READ_FILE | WRITE_FILE | TRUNCATE | IOCTL_DEV,
  named: READ_FILE | WRITE_FILE | TRUNCATE | MAKE_REG | REMOVE_FILE,
  socket: RESOLVE_UNIX,
  full: ~MAKE_DEVICES,
  // Named sockets and devices in there belong to others. Without REFER nothing of a run is moved there, where it would
  // escape its removal; mv copies instead.
  outside: ~(MAKE_DEVICES | RESOLVE_UNIX | IOCTL_DEV | REFER),
};

function rulesetAttribute(abi: number, files: bigint, net: bigint, scope: bigint): Buffer {
  // The attribute grew with ABI 4 and 6; an older kernel refuses a longer form that says more.
  const attribute = Buffer.alloc(abi >= 6 ? 24 : abi >= LANDLOCK_ABI_OF_PORTS ? 16 : 8);
  attribute.writeBigUInt64LE(files, 0);
  if (abi >= LANDLOCK_ABI_OF_PORTS) attribute.writeBigUInt64LE(net, 8);
  if (abi >= 6) attribute.writeBigUInt64LE(scope, 16);
  return attribute;
}

/** The ruleset of files, devices and, where the kernel can, signals and abstract sockets. */
export function filesAttribute(abi: number): Buffer {
  return rulesetAttribute(abi, handledRights(abi), 0n, SCOPE_ALL);
}

/** The ruleset of TCP, from ABI 4 on: no port may be bound; only allowed ones, or any, may be connected to. */
export function networkAttribute(abi: number, connectPorts: SandboxPolicy['connectPorts']): Buffer {
  return rulesetAttribute(abi, 0n, connectPorts === 'any' ? BIND_TCP : BIND_TCP | CONNECT_TCP, 0n);
}

/** Allows a path, by the descriptor under which it is open when the rule is added. */
export function pathRule(abi: number, access: PathAccess | 'full', isDirectory: boolean, fd: number): Buffer {
  const rights = RIGHTS_OF_ACCESS[access] & handledRights(abi);
  const rule = Buffer.alloc(12);
  rule.writeBigUInt64LE(isDirectory ? rights : rights & RIGHTS_OF_FILES, 0);
  rule.writeInt32LE(fd, 8);
  return rule;
}

export function portRule(port: number): Buffer {
  const rule = Buffer.alloc(16);
  rule.writeBigUInt64LE(CONNECT_TCP, 0);
  rule.writeBigUInt64LE(BigInt(port), 8);
  return rule;
}
