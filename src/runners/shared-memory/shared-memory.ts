import { lstatSync, opendirSync, type Stats } from 'node:fs';
import type { AccountIds } from '../../domain/jobs/account.ts';
import type { Clock } from '../../lib/clock.ts';
import { SHARED_MEMORY } from '../sandbox/policy.ts';
import { ownedEntries } from '../run-files/owned-entries.ts';
import { fileKey, usedFiles } from './used-files.ts';

/** The end of a job waits for it; what takes longer is left to the next one. */
const EMPTY_WITHIN_MS = 2_000;
/** Files that one measurement counts, in about 10 ms. With more the memory of their names matters, too. */
const COUNTED_MAX = 4_096;
const TOO_MANY = Number.MAX_SAFE_INTEGER;
const BLOCK_BYTES = 512;

/** The part that one run has in it. */
export interface SharedMemoryUse {
  /** Bytes that it has more than when the run began, by whichever run of the account. */
  grownBytes(): number;
  /** To be called when no process of the run is left. The last run takes away what all of them left. */
  end(): Promise<void>;
}

/**
 * The folder of named shared memory, which all programs of the machine share, as far as it belongs to a separate
 * account of jobs. Where jobs run as the account of the daemon, files in it may belong to any program of that user.
 */
export class SharedMemory {
  readonly #account: AccountIds;
  readonly #clock: Clock;
  readonly #path: string;
  #runs = 0;
  #emptying: Promise<void> | null = null;

  constructor(account: AccountIds, clock: Clock, path = SHARED_MEMORY) {
    this.#account = account;
    this.#clock = clock;
    this.#path = path;
  }

  /** To be called before the first program of a run starts. */
  async begin(): Promise<SharedMemoryUse> {
    while (this.#emptying !== null) await this.#emptying;
    this.#runs += 1;
    let least = this.#bytes();
    return {
      grownBytes: () => {
        const now = this.#bytes();
        least = Math.min(least, now);
        return now - least;
      },
      end: () => {
        this.#runs -= 1;
        return this.empty();
      },
    };
  }

  /**
   * Removes what the account has in it, except files that one of its processes has open or mapped. Nothing happens
   * during a run of the account, in this daemon or in another one. What cannot be removed stays for the next
   * call.
   */
  async empty(): Promise<void> {
    while (this.#emptying !== null) await this.#emptying;
    if (this.#runs > 0 || this.#isBare()) return;
    // A run that begins now waits for it: its files would look like those that are no longer in use.
    this.#emptying = this.#removeUnused()
      // Without /proc, or refused: no reason for a job to fail.
      .catch(() => undefined)
      .finally(() => (this.#emptying = null));
    await this.#emptying;
  }

  async #removeUnused(): Promise<void> {
    const until = this.#clock.monotonic() + EMPTY_WITHIN_MS;
    const isOver = (): boolean => this.#clock.monotonic() >= until;
    const found = new Set<string>();
    for await (const { stats } of ownedEntries(this.#path, this.#account, isOver)) found.add(fileKey(stats));
    if (found.size === 0) return;
    // After the list: what is made from now on is not in it.
    const used = await usedFiles(this.#account);
    if (used === null) return;
    for await (const { folder, name, stats } of ownedEntries(this.#path, this.#account, isOver)) {
      const key = fileKey(stats);
      if (!found.has(key) || used.has(key)) continue;
      await (stats.isDirectory() ? folder.removeFolder(name) : folder.unlink(name)).catch(() => undefined);
    }
  }

  /**
   * Nothing of the account is there, and no folder that could hold something of it: the usual case at the end of each
   * run, so it is looked up at once.
   */
  #isBare(): boolean {
    const names = this.#names(COUNTED_MAX + 1);
    if (names.length > COUNTED_MAX) return false;
    return names.every((name) => {
      const stats = this.#statsOf(name);
      return stats === undefined || !(stats.isDirectory() || stats.uid === this.#account.uid);
    });
  }

  #statsOf(name: Buffer): Stats | undefined {
    return lstatSync(Buffer.concat([Buffer.from(`${this.#path}/`), name]), { throwIfNoEntry: false });
  }

  /** What the account has in the folder itself: a sandboxed job makes no folder in it. */
  #bytes(): number {
    const names = this.#names(COUNTED_MAX + 1);
    if (names.length > COUNTED_MAX) return TOO_MANY;
    let bytes = 0;
    for (const name of names) {
      const stats = this.#statsOf(name);
      if (stats?.isFile() === true && stats.uid === this.#account.uid) bytes += stats.blocks * BLOCK_BYTES;
    }
    return bytes;
  }

  #names(max: number): readonly Buffer[] {
    const names: Buffer[] = [];
    try {
      // With the encoding `buffer`, which the types do not know here, the names are Buffers.
      using folder = opendirSync(this.#path, { encoding: 'buffer' as BufferEncoding });
      for (let entry = folder.readSync(); entry !== null && names.length < max; entry = folder.readSync())
        names.push(entry.name as unknown as Buffer);
    } catch {
      // This system has no such folder.
    }
    return names;
  }
}
