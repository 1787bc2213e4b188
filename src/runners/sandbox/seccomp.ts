import type { CallNumbers } from './call-numbers.ts';

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
/** SOCK_NONBLOCK and SOCK_CLOEXEC share the word with the type. */
const SOCK_TYPE_MASK = 0xf;
const IPPROTO_TCP = 6;
const IPPROTO_UDP = 17;
const NETLINK_ROUTE = 0;
const MSG_FASTOPEN = 0x2000_0000;
/** NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. */
const CLONE_NAMESPACES = 0x7e02_0000;
/** Put bytes into the input of a terminal, or of the console. */
const TIOCSTI = 0x5412;
const TIOCLINUX = 0x541c;

type Instruction = readonly [code: number, jumpTrue: number, jumpFalse: number, value: number];

const load = (at: number): Instruction => [LOAD_WORD, 0, 0, at];
const give = (action: number): Instruction => [RETURN, 0, 0, action];
/** Runs `body` when the loaded word equals `value`; jumps over it otherwise. The body must end in returns. */
const whenEqual = (value: number, body: readonly Instruction[]): Instruction[] => [
  [JUMP_EQUAL, 0, body.length, value],
  ...body,
];

/** `socket(domain, type, protocol)`: unix sockets, netlink for routes and addresses, and plain TCP and UDP. */
function socketRule(): Instruction[] {
  const internet: Instruction[] = [
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
  return [
    load(argumentAt(0)),
    ...whenEqual(AF_UNIX, [give(ALLOW)]),
    ...whenEqual(AF_INET, internet),
    ...whenEqual(AF_INET6, internet),
    ...whenEqual(AF_NETLINK, [load(argumentAt(2)), ...whenEqual(NETLINK_ROUTE, [give(ALLOW)]), give(EPERM)]),
    give(EPERM),
  ];
}

/** EPERM when argument `n` has one of the bits. */
function refuseBits(n: number, bits: number): Instruction[] {
  return [load(argumentAt(n)), [JUMP_ANY_BIT, 0, 1, bits], give(EPERM), give(ALLOW)];
}

function rules(numbers: CallNumbers): Instruction[] {
  const { inspected } = numbers;
  return [
    load(ARCH_AT),
    // A 32-bit program calls by other numbers. Killed rather than refused: with each call failing it could not even exit.
    [JUMP_EQUAL, 1, 0, numbers.auditArch],
    give(KILL_PROCESS),
    load(NUMBER_AT),
    ...(numbers.foreignFrom === null
      ? []
      : [[JUMP_ABOVE_OR_EQUAL, 0, 1, numbers.foreignFrom] as const, give(EPERM)]),
    ...whenEqual(inspected.socket, socketRule()),
    ...whenEqual(inspected.sendto, refuseBits(3, MSG_FASTOPEN)),
    ...whenEqual(inspected.sendmsg, refuseBits(2, MSG_FASTOPEN)),
    ...whenEqual(inspected.sendmmsg, refuseBits(3, MSG_FASTOPEN)),
    ...whenEqual(inspected.clone, refuseBits(0, CLONE_NAMESPACES)),
    // Its flags lie in memory, where a filter can't look. ENOSYS makes the C library fall back to clone.
    ...whenEqual(inspected.clone3, [give(ENOSYS)]),
    ...whenEqual(inspected.ioctl, [
      load(argumentAt(1)),
      ...whenEqual(TIOCSTI, [give(EPERM)]),
      ...whenEqual(TIOCLINUX, [give(EPERM)]),
      give(ALLOW),
    ]),
    // Of another process of the same user it could take files or time away, down to killing it.
    ...whenEqual(inspected.prlimit64, [load(argumentAt(0)), ...whenEqual(0, [give(ALLOW)]), give(EPERM)]),
    ...Object.values(numbers.refused).flatMap((number) => whenEqual(number, [give(EPERM)])),
    give(ALLOW),
  ];
}

/** The filter as the kernel takes it: eight bytes for each instruction. */
export function seccompProgram(numbers: CallNumbers): Buffer {
  const instructions = rules(numbers);
  const program = Buffer.alloc(8 * instructions.length);
  for (const [index, [code, jumpTrue, jumpFalse, value]] of instructions.entries()) {
    program.writeUInt16LE(code, index * 8);
    program.writeUInt8(jumpTrue, index * 8 + 2);
    program.writeUInt8(jumpFalse, index * 8 + 3);
    program.writeUInt32LE(value, index * 8 + 4);
  }
  return program;
}
