import ffi from 'node:ffi';
import type { SystemCalls } from '../sandbox/kernel/system-call.ts';
import { machineCode } from './code.ts';

const PROT_READ = 1;
const PROT_WRITE = 2;
const PROT_EXEC = 4;
const MAP_PRIVATE_ANONYMOUS = 0x22;
const PAGE_BYTES = 4096;

/**
 * Memory outside Node's heap, at a fixed address. It is never unmapped: a child may still read it while this process
 * exits and frees its heap.
 */
export interface Memory {
  readonly address: bigint;
  readonly bytes: Buffer;
  readonly words: BigInt64Array;
}

export function mapMemory(system: SystemCalls, size: number): Memory {
  const address = system.map(0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE_ANONYMOUS, -1, 0);
  const buffer = ffi.toArrayBuffer(address, size, false);
  return { address, bytes: Buffer.from(buffer), words: new BigInt64Array(buffer) };
}

/**
 * Maps the machine code and returns its address. The page is written first and then made executable and read-only; on
 * arm64 this order makes the kernel refresh the instruction cache.
 */
export function mapCode(system: SystemCalls): bigint {
  const code = machineCode(process.arch);
  if (code === null) throw new Error(`there is no machine code for ${process.arch}`);
  const { address, bytes } = mapMemory(system, PAGE_BYTES);
  code.copy(bytes);
  const result = system.call(system.numbers.made.mprotect, address, PAGE_BYTES, PROT_READ | PROT_EXEC);
  if (result !== 0) throw new Error(`making memory executable failed with error ${-result}`);
  return address;
}
