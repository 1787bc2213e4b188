import { RLIMIT_RTTIME } from '../mark.ts';
import type { CallNumbers, ModeCall, TargetedCall } from './call-numbers.ts';

/**
 * The filter that closes what Landlock leaves open. Found by running: MPTCP sockets and MSG_FASTOPEN reach a port that
 * Landlock forbids, raw sockets and io_uring too; so sockets are an allow-list here.
 */

const LOAD_WORD = 0x20;
const AND = 0x54;
const JUMP_EQUAL = 0x15;
const JUMP_ABOVE_OR_EQUAL = 0x35;
const JUMP_ANY_BIT = 0x45;
const RETURN = 0x06;

const ALLOW = 0x7fff_0000;
const KILL_PROCESS = 0x8000_0000;
const EPERM = 0x0005_0000 | 1;
const EAFNOSUPPORT = 0x0005_0000 | 97;
const ENOSYS = 0x0005_0000 | 38;

const NUMBER_AT = 0;
const ARCH_AT = 4;
/** The low half of argument `n`; both processors of the table are little-endian. */
const argumentAt = (n: number): number => 16 + 8 * n;

const AF_UNIX = 1;
const AF_INET = 2;
const AF_INET6 = 10;
const AF_NETLINK = 16;
const SOCK_STREAM = 1;
const SOCK_DGRAM = 2;
const SOCK_SEQPACKET = 5;
/** SOCK_NONBLOCK and SOCK_CLOEXEC share the word with the type. */
const SOCK_TYPE_MASK = 0xf;
const IPPROTO_TCP = 6;
const IPPROTO_UDP = 17;
const NETLINK_ROUTE = 0;
const MSG_FASTOPEN = 0x2000_0000;
/** NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. */
const CLONE_NAMESPACES = 0x7e02_0000;
/** Makes a child of the caller's parent, which is the daemon: it would never wait for it, and its pid stays taken. */
const CLONE_PARENT = 0x8000;
/** Put bytes into the input of a terminal, or of the console. */
const TIOCSTI = 0x5412;
const TIOCLINUX = 0x541c;

/**
 * O_CREAT and the bit of O_TMPFILE that O_DIRECTORY does not share: only with one of them does an open read its mode.
 */
const CREATING_FLAGS = 0o100 | 0o20000000;
const O_TRUNC = 0o1000;
/** Of the flags of an open. The value 3 opens for neither reading nor writing. */
const O_ACCMODE = 0o3;
const O_WRONLY = 0o1;
const O_RDWR = 0o2;
/** Set-user-ID and set-group-ID: such a file runs as its owner for every user. */
const SET_ID_BITS = 0o6000;

/** Which argument of a call holds the mode, and which its flags where only some calls make a file. */
const MODE_CALLS: Readonly<Record<ModeCall, { readonly mode: number; readonly flags?: number }>> = {
  chmod: { mode: 1 },
  fchmod: { mode: 1 },
  fchmodat: { mode: 2 },
  fchmodat2: { mode: 2 },
  open: { mode: 2, flags: 1 },
  openat: { mode: 3, flags: 2 },
  creat: { mode: 1 },
  mkdir: { mode: 1 },
  mkdirat: { mode: 2 },
  mknod: { mode: 1 },
  mknodat: { mode: 2 },
};

const PRIO_PROCESS = 0;
const IOPRIO_WHO_PROCESS = 1;

/** The values, by argument, with which a call works on the calling thread itself. */
const SELF_ONLY: Readonly<Record<TargetedCall, readonly number[]>> = {
  sched_setaffinity: [0],
  sched_setscheduler: [0],
  sched_setparam: [0],
  sched_setattr: [0],
  setpriority: [PRIO_PROCESS, 0],
  ioprio_set: [IOPRIO_WHO_PROCESS, 0],
  prlimit64: [0],
  migrate_pages: [0],
  move_pages: [0],
};

/** What differs between jobs. */
interface FilterOptions {
  /** Whether `socket(AF_UNIX)` is allowed. Without it, `socketpair` still makes pairs that stay connected. */
  readonly unixSockets: boolean;
  /** Whether internet sockets are allowed, TCP and UDP. */
  readonly internet: boolean;
  /** Whether Landlock restricts who may cut a file short. Without it the filter does, see `truncationRule`. */
  readonly limitsTruncation: boolean;
}

type Instruction = readonly [code: number, jumpTrue: number, jumpFalse: number, value: number];

const load = (at: number): Instruction => [LOAD_WORD, 0, 0, at];
const give = (action: number): Instruction => [RETURN, 0, 0, action];
/** Runs `body` when the loaded word equals `value`; jumps over it otherwise. The body must end in returns. */
const whenEqual = (value: number, body: readonly Instruction[]): Instruction[] => [
  [JUMP_EQUAL, 0, body.length, value],
  ...body,
];

/**
 * `socket(domain, type, protocol)`: unix sockets where allowed, netlink for routes and addresses, plain TCP and UDP.
 */
function socketRule({ unixSockets, internet }: FilterOptions): Instruction[] {
  const plain: Instruction[] = [
    load(argumentAt(1)),
    [AND, 0, 0, SOCK_TYPE_MASK],
    ...whenEqual(SOCK_STREAM, [
      load(argumentAt(2)),
      ...whenEqual(0, [give(ALLOW)]),
      ...whenEqual(IPPROTO_TCP, [give(ALLOW)]),
      give(EPERM),
    ]),
    ...whenEqual(SOCK_DGRAM, [
      load(argumentAt(2)),
      ...whenEqual(0, [give(ALLOW)]),
      ...whenEqual(IPPROTO_UDP, [give(ALLOW)]),
      give(EPERM),
    ]),
    give(EPERM),
  ];
  // As on a kernel without this family, which programs know: they try the next one, or name the reason.
  const ofInternet = internet ? plain : [give(EAFNOSUPPORT)];
  return [
    load(argumentAt(0)),
    ...(unixSockets ? whenEqual(AF_UNIX, [give(ALLOW)]) : []),
    ...whenEqual(AF_INET, ofInternet),
    ...whenEqual(AF_INET6, ofInternet),
    ...whenEqual(AF_NETLINK, [load(argumentAt(2)), ...whenEqual(NETLINK_ROUTE, [give(ALLOW)]), give(EPERM)]),
    give(EPERM),
  ];
}

/**
 * `socketpair(domain, type)`: unix only. Without unix sockets no datagrams, of which `raw` is another name: either end
 * of such a pair sends to, and connects to, any named socket.
 */
function pairRule({ unixSockets }: FilterOptions): Instruction[] {
  const types = [
    load(argumentAt(1)),
    [AND, 0, 0, SOCK_TYPE_MASK] as const,
    ...[SOCK_STREAM, SOCK_SEQPACKET].flatMap((type) => whenEqual(type, [give(ALLOW)])),
    give(EPERM),
  ];
  return [load(argumentAt(0)), ...whenEqual(AF_UNIX, unixSockets ? [give(ALLOW)] : types), give(EPERM)];
}

/** EPERM when argument `n` has one of the bits. */
function refuseBits(n: number, bits: number): Instruction[] {
  return [load(argumentAt(n)), [JUMP_ANY_BIT, 0, 1, bits], give(EPERM), give(ALLOW)];
}

/** EPERM for a mode with a set-ID bit, unless the flags say that the call makes no file. */
function modeRule({ mode, flags }: { readonly mode: number; readonly flags?: number }): Instruction[] {
  const check = refuseBits(mode, SET_ID_BITS);
  return flags === undefined
    ? check
    : [load(argumentAt(flags)), [JUMP_ANY_BIT, 1, 0, CREATING_FLAGS], give(ALLOW), ...check];
}

/**
 * EPERM for an open that cuts a file short and does not open it for writing. Below ABI 3 Landlock has no right for
 * truncation. It checks what a file is opened for, so O_TRUNC with O_WRONLY or O_RDWR needs the right to write, but
 * with O_RDONLY, or with the access mode 3, only that to read or none. `truncate` opens nothing, and is refused as a
 * whole. `ftruncate` and `fallocate` need a descriptor that was opened for writing, `creat` opens for writing, and
 * `openat2` is refused everywhere because its flags lie in memory.
 */
function truncationRule(flags: number, rest: readonly Instruction[]): Instruction[] {
  return [
    load(argumentAt(flags)),
    [JUMP_ANY_BIT, 0, 4, O_TRUNC],
    [AND, 0, 0, O_ACCMODE],
    [JUMP_EQUAL, 2, 0, O_WRONLY],
    [JUMP_EQUAL, 1, 0, O_RDWR],
    give(EPERM),
    ...rest,
  ];
}

/** EPERM for a new value of the limit that marks a job. A call without one, which only asks, has no address. */
function keepMark(resource: number, newLimit: number): Instruction[] {
  return [
    load(argumentAt(resource)),
    [JUMP_EQUAL, 1, 0, RLIMIT_RTTIME],
    give(ALLOW),
    load(argumentAt(newLimit)),
    [JUMP_EQUAL, 0, 2, 0],
    load(argumentAt(newLimit) + 4),
    [JUMP_EQUAL, 1, 0, 0],
    give(EPERM),
    give(ALLOW),
  ];
}

/** EPERM unless the first arguments are exactly these. */
function onlyWith(values: readonly number[], rest: readonly Instruction[] = [give(ALLOW)]): Instruction[] {
  const checks = values.flatMap((value, n) => [load(argumentAt(n)), [JUMP_EQUAL, 1, 0, value] as const, give(EPERM)]);
  return [...checks, ...rest];
}

/** What is looked at besides. */
const THEN: Readonly<Partial<Record<TargetedCall, readonly Instruction[]>>> = { prlimit64: keepMark(1, 2) };

/** For a call that sets the mode of a file: what is looked at before. */
function fileRule(name: ModeCall, { limitsTruncation }: FilterOptions): Instruction[] {
  const call = MODE_CALLS[name];
  const rule = modeRule(call);
  return limitsTruncation || call.flags === undefined ? rule : truncationRule(call.flags, rule);
}

function rules(numbers: CallNumbers, options: FilterOptions): Instruction[] {
  const { inspected } = numbers;
  return [
    load(ARCH_AT),
    // A 32-bit program calls by other numbers. Killed rather than refused: with each call failing it could not even
    // exit.
    [JUMP_EQUAL, 1, 0, numbers.auditArch],
    give(KILL_PROCESS),
    load(NUMBER_AT),
    ...(numbers.foreignFrom === null ? [] : [[JUMP_ABOVE_OR_EQUAL, 0, 1, numbers.foreignFrom] as const, give(EPERM)]),
    ...whenEqual(inspected.socket, socketRule(options)),
    ...whenEqual(inspected.socketpair, pairRule(options)),
    ...whenEqual(inspected.sendto, refuseBits(3, MSG_FASTOPEN)),
    ...whenEqual(inspected.sendmsg, refuseBits(2, MSG_FASTOPEN)),
    ...whenEqual(inspected.sendmmsg, refuseBits(3, MSG_FASTOPEN)),
    ...whenEqual(inspected.clone, refuseBits(0, CLONE_NAMESPACES | CLONE_PARENT)),
    // Its flags lie in memory, where a filter can't look. ENOSYS makes the C library fall back to clone.
    ...whenEqual(inspected.clone3, [give(ENOSYS)]),
    ...whenEqual(inspected.ioctl, [
      load(argumentAt(1)),
      ...whenEqual(TIOCSTI, [give(EPERM)]),
      ...whenEqual(TIOCLINUX, [give(EPERM)]),
      give(ALLOW),
    ]),
    // Its flags and mode lie in memory. ENOSYS makes callers fall back to openat.
    ...whenEqual(inspected.openat2, [give(ENOSYS)]),
    ...namesOf(numbers.modes).flatMap((name) => whenEqual(numbers.modes[name] ?? 0, fileRule(name, options))),
    ...(options.limitsTruncation ? [] : whenEqual(inspected.truncate, [give(EPERM)])),
    // On another process of the same user these take away processor time, memory or files, down to killing it. A thread
    // that names itself by its id is refused too: a filter does not know the id of the caller.
    ...namesOf(numbers.targeted).flatMap((name) =>
      whenEqual(numbers.targeted[name], onlyWith(SELF_ONLY[name], THEN[name])),
    ),
    ...whenEqual(inspected.setrlimit, keepMark(0, 1)),
    ...Object.values(numbers.refused).flatMap((number) => whenEqual(number, [give(EPERM)])),
    give(ALLOW),
  ];
}

function namesOf<K extends string>(table: Readonly<Partial<Record<K, number>>>): K[] {
  return Object.keys(table) as K[];
}

/** The filter as the kernel takes it: eight bytes for each instruction. */
export function seccompProgram(numbers: CallNumbers, options: FilterOptions): Buffer {
  const instructions = rules(numbers, options);
  const program = Buffer.alloc(8 * instructions.length);
  for (const [index, [code, jumpTrue, jumpFalse, value]] of instructions.entries()) {
    program.writeUInt16LE(code, index * 8);
    program.writeUInt8(jumpTrue, index * 8 + 2);
    program.writeUInt8(jumpFalse, index * 8 + 3);
    program.writeUInt32LE(value, index * 8 + 4);
  }
  return program;
}
