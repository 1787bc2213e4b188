import ffi from 'node:ffi';
import type { CallNumbers } from './call-numbers.ts';
import { CALL_NUMBERS } from './call-numbers.ts';

/** An argument of a system call: a number, or a buffer whose address is passed. */
type CallArgument = number | bigint | Buffer;

export interface SystemCalls {
  readonly numbers: CallNumbers;
  /** The result, or minus the error number (`-13` for EACCES). Buffers must outlive the call. */
  call(number: number, ...args: readonly CallArgument[]): number;
  /** As `call`, for a result that is an address. Throws on an error. */
  map(...args: readonly CallArgument[]): bigint;
  /** Starts a process at `code`, with `argument` in its first register. The pid, or minus the error number. */
  clone(code: bigint, stackTop: bigint, flags: number, argument: bigint): number;
}

/** What is used of the C library: the same in glibc and in musl. The last one tells the calling thread's error. */
export const C_FUNCTIONS = ['syscall', 'clone', '__errno_location'] as const;

const [SYSCALL, CLONE, ERRNO] = C_FUNCTIONS;

function raw(argument: CallArgument | undefined): bigint {
  if (argument === undefined) return 0n;
  return Buffer.isBuffer(argument) ? ffi.getRawPointer(argument) : BigInt(argument);
}

/**
 * Opens the C library that Node itself is linked to. Throws where there is no table of call numbers for this machine
 * (another operating system, another processor) or where the library lacks what is needed.
 */
export function openSystemCalls(): SystemCalls {
  const numbers = process.platform === 'linux' ? CALL_NUMBERS[process.arch] : undefined;
  if (numbers === undefined)
    throw new Error(
      `jobs need Linux on ${Object.keys(CALL_NUMBERS).join(' or ')}; this is ${process.platform} on ` + process.arch,
    );
  const { functions } = ffi.dlopen(null, {
    [SYSCALL]: { arguments: ['i64', 'i64', 'i64', 'i64', 'i64', 'i64', 'i64'], return: 'i64' },
    [CLONE]: { arguments: ['u64', 'u64', 'i32', 'u64'], return: 'i32' },
    [ERRNO]: { arguments: [], return: 'u64' },
  });
  const errnoAt = functions[ERRNO]();
  const invoke = (number: number, [a, b, c, d, e, f]: readonly CallArgument[]): bigint =>
    functions[SYSCALL](BigInt(number), raw(a), raw(b), raw(c), raw(d), raw(e), raw(f));
  const orError = (result: number): number => (result === -1 ? -ffi.getInt32(errnoAt) : result);
  return {
    numbers,
    call: (number, ...args) => orError(Number(invoke(number, args))),
    map(...args) {
      const address = invoke(numbers.made.mmap, args);
      if (address === -1n) throw new Error(`mapping memory failed with error ${ffi.getInt32(errnoAt)}`);
      return address;
    },
    clone: (code, stackTop, flags, argument) => orError(functions[CLONE](code, stackTop, flags, argument)),
  };
}

/** A text as C wants it. A NUL inside would cut it short, so callers refuse one before. */
export function cString(text: string): Buffer {
  return Buffer.from(`${text}\0`, 'utf8');
}
