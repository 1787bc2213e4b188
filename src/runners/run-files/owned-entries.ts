import type { BigIntStats } from 'node:fs';
import type { AccountIds } from '../../domain/jobs/account.ts';
import { AccountFolder } from './account-folder.ts';
import type { Folder, Name } from './folder.ts';
import { openOwnFolder } from './own-folder.ts';

/** Entries of the account that one walk looks at: a job that leaves more waits for the next walk. */
const ENTRIES_MAX = 50_000;
/** Folders in each other. Each holds two descriptors while it is walked. */
const DEPTH_MAX = 64;

/** An entry that belongs to the account, at the moment of the look. */
interface OwnedEntry {
  /** Acts with the rights of the account. */
  readonly folder: Folder;
  readonly name: Name;
  readonly stats: BigIntStats;
}

/**
 * The entries of an account in a folder of the system that all accounts write, and in the folders of the account below
 * it, each folder after what it holds. `names` are those in the folder itself. No link is followed, and no folder of
 * another account entered. Everything below the folder is done with the rights of the account, so an entry that a
 * process exchanges leads to nothing that the account could not do itself.
 */
export async function* ownedEntries(
  path: string,
  names: readonly Name[],
  account: AccountIds,
  isOver: () => boolean,
): AsyncGenerator<OwnedEntry> {
  await using top = await openOwnFolder(path);
  const { dev } = await top.stats();
  const walk = new Walk(account, isOver, BigInt(dev));
  const folder = new AccountFolder(top.fd, account);
  for (const name of names) {
    if (walk.isFull) return;
    yield* walk.entryAt(top, folder, name, 1);
  }
}

class Walk {
  readonly #account: AccountIds;
  readonly #isOver: () => boolean;
  /** Of the folder that is walked: what is mounted in it stays out. */
  readonly #device: bigint;
  #entries = 0;

  constructor(account: AccountIds, isOver: () => boolean, device: bigint) {
    this.#account = account;
    this.#isOver = isOver;
    this.#device = device;
  }

  get isFull(): boolean {
    return this.#entries >= ENTRIES_MAX || this.#isOver();
  }

  /** `listed` looks at it, and `folder` acts on it. */
  async *entryAt(listed: Folder, folder: Folder, name: Name, depth: number): AsyncGenerator<OwnedEntry> {
    const stats = await listed.statsOf(name).catch(() => null);
    if (stats?.uid !== BigInt(this.#account.uid) || stats.dev !== this.#device) return;
    this.#entries += 1;
    if (stats.isDirectory() && depth < DEPTH_MAX) yield* this.#below(folder, name, depth + 1);
    yield { folder, name, stats };
  }

  async *#below(parent: Folder, name: Name, depth: number): AsyncGenerator<OwnedEntry> {
    // Closed to the account, or exchanged since: nothing of it is looked at.
    const folder = await parent.folder(name).catch(() => null);
    if (folder === null) return;
    try {
      for await (const { name: inner } of folder.entries()) {
        if (this.isFull) return;
        yield* this.entryAt(folder, folder, inner, depth);
      }
    } catch {
      // The account may not list it.
    } finally {
      await folder[Symbol.asyncDispose]();
    }
  }
}
