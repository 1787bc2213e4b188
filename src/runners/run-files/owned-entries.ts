import type { BigIntStats } from 'node:fs';
import type { AccountIds } from '../../domain/jobs/account.ts';
import { AccountFolder } from './account-folder.ts';
import type { Folder, Name } from './folder.ts';
import { openOwnFolder } from './own-folder.ts';

/** Entries that one walk looks at: a job that leaves more waits for the next walk, which takes as many again. */
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

interface Walk {
  readonly account: AccountIds;
  readonly isOver: () => boolean;
  /** Of the folder that is walked: what is mounted in it stays out. */
  readonly device: bigint;
  entries: number;
}

/**
 * The entries of an account in a folder of the system that all accounts write, and in the folders below it, each folder
 * after what it holds. No link is followed. The folder itself is listed with the rights of this process, and everything
 * below it with those of the account, so an entry that a process exchanges leads to nothing that the account
 * could not do itself.
 */
export async function* ownedEntries(
  path: string,
  account: AccountIds,
  isOver: () => boolean,
): AsyncGenerator<OwnedEntry> {
  await using top = await openOwnFolder(path);
  const { dev } = await top.stats();
  yield* entriesIn(top, new AccountFolder(top.fd, account), { account, isOver, device: BigInt(dev), entries: 0 }, 1);
}

async function* entriesIn(listed: Folder, folder: Folder, walk: Walk, depth: number): AsyncGenerator<OwnedEntry> {
  for await (const { name } of listed.entries()) {
    walk.entries += 1;
    if (walk.entries > ENTRIES_MAX || walk.isOver()) return;
    const stats = await listed.statsOf(name).catch(() => null);
    if (stats === null || stats.dev !== walk.device) continue;
    if (stats.isDirectory() && depth < DEPTH_MAX) yield* below(folder, name, walk, depth + 1);
    if (stats.uid === BigInt(walk.account.uid)) yield { folder, name, stats };
  }
}

async function* below(parent: Folder, name: Name, walk: Walk, depth: number): AsyncGenerator<OwnedEntry> {
  // Closed to the account, or exchanged since: nothing of it is looked at.
  const folder = await parent.folder(name).catch(() => null);
  if (folder === null) return;
  try {
    yield* entriesIn(folder, folder, walk, depth);
  } catch {
    // The account may not list it.
  } finally {
    await folder[Symbol.asyncDispose]();
  }
}
