import type { Memory } from './memory.ts';

/**
 * A list of system calls in memory, as the machine code carries it out. A record has eight words: the number of the
 * call, in whose place the result is left, six arguments, and the results after which the list continues.
 */

/** How the output of the job names a call that failed. */
export interface Step {
  /** The subject of a sentence that ends with "failed". */
  readonly name: string;
  /** The whole sentence where permission was denied. */
  readonly denied?: string;
}

interface StepFailure {
  readonly step: Step;
  /** 0 where the call returned too little: the order to continue was not given. */
  readonly error: number;
}

/** Results that are no failure, a bit set of error numbers; bit 0 stands for 0. A result above 0 is no failure. */
export const MORE_THAN_ZERO = 0n;
export const ZERO_OR_MORE = 1n;
export const ANY_RESULT = -1n;

/** The C library uses a few bytes of it in the child; the machine code uses no stack. */
const STACK_BYTES = 4096;
const RECORD_BYTES = 64;
const WORD_BYTES = 8;
/** A job with 10 paths, 10 ports and 10 folders to search has about 250. */
const RECORDS_MAX = 1024;
/** For arguments and environment; the kernel accepts about 2 MiB. Only pages that are written take up memory. */
const TEXT_BYTES_MAX = 1024 * 1024;
const TEXT_AT = STACK_BYTES + RECORDS_MAX * RECORD_BYTES;
/** The size of the memory of a list. */
export const LIST_BYTES = TEXT_AT + TEXT_BYTES_MAX;

/** A text holds a NUL, or there is no room for it in the list. */
export class TextRefused extends Error {
  override readonly name: string = 'TextRefused';
}

export class CallList {
  readonly #memory: Memory;
  readonly #steps: Step[] = [];
  #textEnd = TEXT_AT;

  constructor(memory: Memory) {
    this.#memory = memory;
  }

  /** The address of the first record. */
  get start(): bigint {
    return this.#memory.address + BigInt(STACK_BYTES);
  }

  /** The stack of the child, which grows down from the list. */
  get stackTop(): bigint {
    return this.start;
  }

  get steps(): readonly Step[] {
    return this.#steps;
  }

  get textBytes(): number {
    return this.#textEnd - TEXT_AT;
  }

  call(step: Step, number: number, args: readonly (number | bigint)[] = [], passes = ZERO_OR_MORE): void {
    const at = this.#nextRecord(1) / WORD_BYTES;
    const { words } = this.#memory;
    words[at] = BigInt(number);
    for (let n = 0; n < 6; n += 1) words[at + 1 + n] = BigInt(args[n] ?? 0);
    words[at + 7] = passes;
    this.#steps.push(step);
  }

  /** Adds the calls of another list, whose texts stay where they are. */
  append(other: CallList): void {
    const at = this.#nextRecord(other.#steps.length);
    other.#memory.bytes.copy(this.#memory.bytes, at, STACK_BYTES, STACK_BYTES + other.#steps.length * RECORD_BYTES);
    this.#steps.push(...other.#steps);
  }

  /** Reserves room beside the records, aligned and filled with zeros. Returns its address and its bytes. */
  room(size: number): { readonly address: bigint; readonly bytes: Buffer } {
    const at = Math.ceil(this.#textEnd / WORD_BYTES) * WORD_BYTES;
    if (at + size > LIST_BYTES) throw new TextRefused(`the order is longer than ${TEXT_BYTES_MAX} bytes`);
    this.#textEnd = at + size;
    return { address: this.#memory.address + BigInt(at), bytes: this.#memory.bytes.subarray(at, at + size).fill(0) };
  }

  /** Copies the bytes into the list and returns their address. */
  copy(content: Buffer): bigint {
    const { address, bytes } = this.room(content.length);
    content.copy(bytes);
    return address;
  }

  /** Copies a text, as C reads it, and returns its address. Throws for a NUL, which would end the text. */
  text(value: string | Buffer): bigint {
    if (value.includes('\0')) throw new TextRefused('a text of the order holds a NUL');
    const { address, bytes } = this.room(Buffer.byteLength(value) + 1);
    if (typeof value === 'string') bytes.write(value);
    else value.copy(bytes);
    return address;
  }

  /** Copies texts and returns the address of their NULL-terminated array. */
  texts(values: readonly string[]): bigint {
    const pointers = BigInt64Array.from([...values.map((value) => this.text(value)), 0n]);
    return this.copy(Buffer.from(pointers.buffer));
  }

  /** The results of the calls of a step; for a call that was not made, its number. */
  resultsOf(step: Step): number[] {
    return this.#steps.flatMap((each, index) => (each === step ? [this.#result(index)] : []));
  }

  /** The first result that is not allowed, which ended the child; null without one. */
  failure(): StepFailure | null {
    for (const [index, step] of this.#steps.entries()) {
      const error = -this.#result(index);
      if (error < 0) continue;
      const passes = this.#memory.words[this.#wordAt(index) + 7] ?? 0n;
      if (error >= 64 || ((passes >> BigInt(error)) & 1n) === 0n) return { step, error };
    }
    return null;
  }

  #result(index: number): number {
    return Number(this.#memory.words[this.#wordAt(index)]);
  }

  #wordAt(index: number): number {
    return (STACK_BYTES + index * RECORD_BYTES) / WORD_BYTES;
  }

  /** The place of the next records, in bytes. */
  #nextRecord(count: number): number {
    if (this.#steps.length + count > RECORDS_MAX)
      throw new Error(`the order needs more than ${RECORDS_MAX} system calls`);
    return STACK_BYTES + this.#steps.length * RECORD_BYTES;
  }
}
