import { type Dir, lstatSync, opendirSync, type Stats } from 'node:fs';
import type { Clock } from '../../lib/clock.ts';
import { YieldTimer } from '../../lib/flow/cooperative.ts';

/** Entries that one call of the kernel reads. */
const ENTRIES_AT_A_TIME = 512;

/**
 * Walks over what one user has in a folder that all users write. Each entry of another user costs its listing and one
 * look at its owner, about 5 us, and a walk whose time is over continues at the same place: so other users can make a
 * walk longer, but change neither what it finds nor hold anything up.
 */
export class OwnedNames {
  readonly #path: string;
  readonly #uid: number;
  readonly #clock: Clock;
  #folder: Dir | null = null;

  constructor(path: string, uid: number, clock: Clock) {
    this.#path = path;
    this.#uid = uid;
    this.#clock = clock;
  }

  /** The next walk continues one whose time was over. */
  get isBegun(): boolean {
    return this.#folder !== null;
  }

  /**
   * Calls `take` for each entry of the user. True at the end of the folder; false where `take` answered false, or the
   * time is over. Only one call at a time.
   */
  async walk(withinMs: number, take: (name: Buffer, stats: Stats) => boolean): Promise<boolean> {
    const until = this.#clock.monotonic() + withinMs;
    const breather = new YieldTimer(this.#clock);
    try {
      this.#folder ??= this.#open();
      for (let entry = this.#folder?.readSync(); entry; entry = this.#folder?.readSync()) {
        const name = entry.name as unknown as Buffer;
        const stats = lstatSync(Buffer.concat([Buffer.from(`${this.#path}/`), name]), { throwIfNoEntry: false });
        if (stats?.uid === this.#uid && !take(name, stats)) return false;
        if (!breather.isDue) continue;
        await breather.breathe();
        if (this.#clock.monotonic() >= until) return false;
      }
    } catch (error) {
      this.#close();
      throw error;
    }
    this.#close();
    return true;
  }

  /** Null where the system has no such folder. */
  #open(): Dir | null {
    try {
      // With the encoding `buffer`, which the types do not know here, the names are Buffers.
      return opendirSync(this.#path, { encoding: 'buffer' as BufferEncoding, bufferSize: ENTRIES_AT_A_TIME });
    } catch {
      return null;
    }
  }

  #close(): void {
    this.#folder?.closeSync();
    this.#folder = null;
  }
}
