import type { Memory } from './memory.ts';

/**
 * A list of system calls in memory, as the machine code carries it out. A record has eight words: the number of the
 * call, in whose place the result is left, six arguments, and the results after which the list continues.
 */

/** What a failure of a call is called in the output of the job. */
export interface Step {
  /** Completes the sentence "… failed". */
  readonly name: string;
  /** The sentence in place of it where permission was denied. */
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

/** For the C library's first function of the child, which makes one call; the machine code uses none of it. */
const STACK_BYTES = 4096;
const RECORD_BYTES = 64;
const WORD_BYTES = 8;
/** A job with 10 paths, 10 ports and 10 folders to search has about 250. */
const RECORDS_MAX = 1024;
/** Arguments and environment; the kernel itself takes about 2 MiB. Only what is written takes up memory. */
const TEXT_BYTES_MAX = 1024 * 1024;
const TEXT_AT = STACK_BYTES + RECORDS_MAX * RECORD_BYTES;
/** The size of the memory of a list. */
export const LIST_BYTES = TEXT_AT + TEXT_BYTES_MAX;

/** A text that can't be in a list: it holds a NUL, or there is no room for it. */
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

  /** The stack of the child lies below the list. */
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

  /** Room beside the records, aligned and cleared: its address and its bytes. */
  room(size: number): { readonly address: bigint; readonly bytes: Buffer } {
    const at = Math.ceil(this.#textEnd / WORD_BYTES) * WORD_BYTES;
    if (at + size > LIST_BYTES) throw new TextRefused(`the order is longer than ${TEXT_BYTES_MAX} bytes`);
    this.#textEnd = at + size;
    return { address: this.#memory.address + BigInt(at), bytes: this.#memory.bytes.subarray(at, at + size).fill(0) };
  }

  /** The address of a copy. */
  copy(content: Buffer): bigint {
    const { address, bytes } = this.room(content.length);
    content.copy(bytes);
    return address;
  }

  /** The address of a text as C wants it. Throws for one with a NUL, which would cut it short. */
  text(value: string): bigint {
    if (value.includes('\0')) throw new TextRefused('a text of the order holds a NUL');
    const { address, bytes } = this.room(Buffer.byteLength(value) + 1);
    bytes.write(value);
    return address;
  }

  /** The address of a NULL-terminated array of texts. */
  texts(values: readonly string[]): bigint {
    const pointers = BigInt64Array.from([...values.map((value) => this.text(value)), 0n]);
    return this.copy(Buffer.from(pointers.buffer));
  }

  /** What the calls of a step returned; the number of the call for one that was not made. */
  resultsOf(step: Step): number[] {
    return this.#steps.flatMap((each, index) => (each === step ? [this.#result(index)] : []));
  }

  /** Why the child ended before it was another program; null when it was not the list that ended it. */
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
