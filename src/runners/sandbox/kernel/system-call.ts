import ffi from 'node:ffi';
import type { CallNumbers } from './call-numbers.ts';
import { CALL_NUMBERS } from './call-numbers.ts';

/** An argument of a system call: a number, or a buffer whose address is passed. */
type CallArgument = number | bigint | Buffer;

export interface SystemCalls {
  readonly numbers: CallNumbers;
  /** The result, or minus the error number (`-13` for EACCES). Buffers must outlive the call. */
  call(number: number, ...args: readonly CallArgument[]): number;
  /** Makes `signal` have its default effect again. False when the C library refused. */
  defaultSignal(signal: number): boolean;
}

/** Where a C library keeps the error number of the calling thread: the same name in glibc and in musl. */
const ERRNO_SYMBOL = '__errno_location';

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
    throw new Error(`there is no system call table for ${process.platform} on ${process.arch}`);
  const { functions } = ffi.dlopen(null, {
    syscall: { arguments: ['i64', 'i64', 'i64', 'i64', 'i64', 'i64'], return: 'i64' },
    signal: { arguments: ['i32', 'i64'], return: 'i64' },
    [ERRNO_SYMBOL]: { arguments: [], return: 'u64' },
  });
  const errnoAt = functions[ERRNO_SYMBOL]();
  return {
    numbers,
    call(number, ...args) {
      const result = Number(
        functions.syscall(BigInt(number), raw(args[0]), raw(args[1]), raw(args[2]), raw(args[3]), raw(args[4])),
      );
      return result === -1 ? -ffi.getInt32(errnoAt) : result;
    },
    defaultSignal: (signal) => functions.signal(signal, 0n) !== -1n,
  };
}

/** A text as C wants it. A NUL inside would cut it short, so callers refuse one before. */
export function cString(text: string): Buffer {
  return Buffer.from(`${text}\0`, 'utf8');
}

/** A NULL-terminated array of texts, and what must stay reachable until the call is over. */
export function cStrings(texts: readonly string[]): { readonly array: Buffer; readonly keep: readonly Buffer[] } {
  const keep = texts.map(cString);
  const array = Buffer.alloc(8 * (keep.length + 1));
  for (const [index, text] of keep.entries()) array.writeBigUInt64LE(ffi.getRawPointer(text), index * 8);
  return { array, keep };
}

export function pointerTo(buffer: Buffer): bigint {
  return ffi.getRawPointer(buffer);
}
