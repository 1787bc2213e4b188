import type { AccountIds } from '../../domain/jobs/account.ts';
import type { Clock } from '../../lib/clock.ts';
import { SHARED_MEMORY } from '../sandbox/policy.ts';
import { ownedEntries } from '../run-files/owned-entries.ts';
import { AccountBytes } from './account-bytes.ts';
import { OwnedNames } from './owned-names.ts';
import { fileKey, usedFiles } from './used-files.ts';

/** The end of a job waits for it; what takes longer is left to the next one. */
const EMPTY_WITHIN_MS = 2_000;
/** Of this time, for the names. */
const FIND_WITHIN_MS = 1_000;
/** Names that are removed at the end of one run; the next one continues. */
const FOUND_MAX = 50_000;
/** The beginning of a run waits for it. */
const BEGIN_WITHIN_MS = 2_000;
/** One look at a run. In this time it sees some 20,000 files of other accounts, and the next look sees others. */
const LOOK_WITHIN_MS = 100;

/** The part that one run has in it. */
export interface SharedMemoryUse {
  /** Bytes that it has more than when the run began, by whichever run of the account. */
  grownBytes(): Promise<number>;
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
  readonly #bytes: AccountBytes;
  readonly #names: OwnedNames;
  #runs = 0;
  #emptying: Promise<void> | null = null;

  constructor(account: AccountIds, clock: Clock, path = SHARED_MEMORY) {
    this.#account = account;
    this.#clock = clock;
    this.#path = path;
    this.#bytes = new AccountBytes(path, account.uid, clock);
    this.#names = new OwnedNames(path, account.uid, clock);
  }

  /** To be called before the first program of a run starts. */
  async begin(): Promise<SharedMemoryUse> {
    while (this.#emptying !== null) await this.#emptying;
    this.#runs += 1;
    const bytes = this.#bytes;
    const { walks } = bytes;
    // Before a walk has come to its end, it is not known what was there before.
    let least: number | null = null;
    const grown = (): number => {
      if (bytes.walks > walks) least = Math.min(least ?? bytes.whole, bytes.whole);
      return least === null ? 0 : bytes.least - least;
    };
    await bytes.count(BEGIN_WITHIN_MS);
    grown();
    return {
      grownBytes: async () => {
        await bytes.countAgain(LOOK_WITHIN_MS);
        return grown();
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
    if (this.#runs > 0) return;
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
    const names = await this.#find();
    // The usual case at the end of each run.
    if (names.length === 0) return;
    const owned = (): ReturnType<typeof ownedEntries> => ownedEntries(this.#path, names, this.#account, isOver);
    const found = new Set<string>();
    for await (const { stats } of owned()) found.add(fileKey(stats));
    // After the list: what is made from now on is not in it.
    const used = await usedFiles(this.#account);
    if (used === null) return;
    for await (const { folder, name, stats } of owned()) {
      const key = fileKey(stats);
      if (!found.has(key) || used.has(key)) continue;
      await (stats.isDirectory() ? folder.removeFolder(name) : folder.unlink(name)).catch(() => undefined);
    }
  }

  /** What the account has in the folder itself; folders last, since others may have filled them. */
  async #find(): Promise<readonly Buffer[]> {
    const files: Buffer[] = [];
    const folders: Buffer[] = [];
    const take: Parameters<OwnedNames['walk']>[1] = (name, stats) =>
      (stats.isDirectory() ? folders : files).push(name) > 0 && files.length + folders.length < FOUND_MAX;
    const isSecondHalf = this.#names.isBegun;
    const isAtEnd = await this.#names.walk(FIND_WITHIN_MS, take);
    // What the last run has left may lie before the place where this walk continued.
    if (isAtEnd && isSecondHalf) await this.#names.walk(FIND_WITHIN_MS, take);
    return [...files, ...folders];
  }
}
