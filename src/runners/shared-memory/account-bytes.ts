import type { Clock } from '../../lib/clock.ts';
import { OwnedNames } from './owned-names.ts';

const BLOCK_BYTES = 512;
/** The kernel's memory for a name and an empty file. */
const NAME_BYTES = 1_024;
/** A count is good for all runs that ask within this time. */
const GOOD_FOR_MS = 100;

/**
 * What an account has in the folder of shared memory itself: a sandboxed job makes no folder in it. Files of other
 * accounts do not count, however many there are.
 */
export class AccountBytes {
  readonly #names: OwnedNames;
  readonly #clock: Clock;
  #counting: Promise<void> | null = null;
  #countedAt = Number.NEGATIVE_INFINITY;
  /** Of the walk that has begun. */
  #part = 0;
  /** Of the last one that has come to its end. */
  #whole = 0;
  #walks = 0;

  constructor(path: string, uid: number, clock: Clock) {
    this.#names = new OwnedNames(path, uid, clock);
    this.#clock = clock;
  }

  /** Walks that have come to their end. */
  get walks(): number {
    return this.#walks;
  }

  /** As the last walk has found it. */
  get whole(): number {
    return this.#whole;
  }

  /** The least that it can be, as far as the walk has come by now. */
  get least(): number {
    return Math.max(this.#whole, this.#part);
  }

  /** Begins a walk, or continues one, for at most this time. */
  async count(withinMs: number): Promise<void> {
    while (this.#counting !== null) await this.#counting;
    this.#counting = this.#countNow(withinMs).finally(() => (this.#counting = null));
    await this.#counting;
  }

  /** The same, unless a count has ended just now. */
  async countAgain(withinMs: number): Promise<void> {
    if (this.#clock.monotonic() >= this.#countedAt + GOOD_FOR_MS) await this.count(withinMs);
  }

  async #countNow(withinMs: number): Promise<void> {
    const isAtEnd = await this.#names.walk(withinMs, (_, stats) => {
      // Another account may give a file that it may read more names: each counts its part of the file.
      this.#part += stats.isFile() ? (NAME_BYTES + stats.blocks * BLOCK_BYTES) / Math.max(1, stats.nlink) : NAME_BYTES;
      return true;
    });
    this.#countedAt = this.#clock.monotonic();
    if (!isAtEnd) return;
    this.#whole = this.#part;
    this.#part = 0;
    this.#walks += 1;
  }
}
