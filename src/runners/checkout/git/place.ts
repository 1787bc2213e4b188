import { lstat, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { AccountIds } from '../../../domain/jobs/account.ts';
import type { Clock } from '../../../lib/clock.ts';
import { someNames } from '../../../lib/files/list-folder.ts';
import { randomName } from '../../../lib/random.ts';
import { makeFolderOf, removeFolderOf } from '../../run-files/outer-folder.ts';
import { makeRunFolder, writeRunFile } from '../../run-files/run-files.ts';
import { eraseEntry, LEFTOVER_MS, LEFTOVERS_MAX } from '../erase.ts';

/** Where git works as another account than the service: a folder of the service that the account may pass. */
export interface GitPlace {
  readonly account: AccountIds;
  readonly folder: string;
}

/** No job id begins with a dot. */
const PREFIX = '.git-';
const WORK = 'work';
/** What remains after this time is left to a later fetch, in milliseconds. */
const REMOVE_WITHIN_MS = 60_000;

/** The folder that git may write, and the two in it. */
export interface GitFolders {
  readonly work: string;
  readonly gitDir: string;
  readonly home: string;
  remove(): Promise<void>;
}

/** Makes an empty bare repository and the home of git: in `into`, or in `place`, where they belong to its account. */
export async function makeGitFolders(into: string, place: GitPlace | null, clock: Clock): Promise<GitFolders> {
  if (place !== null) await removeLeftovers(place.folder, clock);
  const outer = place === null ? into : join(place.folder, `${PREFIX}${randomName()}`);
  const work = join(outer, WORK);
  if (place === null) await mkdir(work, { mode: 0o700 });
  else makeFolderOf(place.account, work);
  for (const folder of ['home', 'git', 'git/objects', 'git/refs']) await makeRunFolder(work, folder);
  const files = { HEAD: 'ref: refs/heads/none\n', config: '[core]\n\trepositoryformatversion = 0\n\tbare = true\n' };
  for (const [file, text] of Object.entries(files)) await writeRunFile(work, `git/${file}`, Buffer.from(text));
  return {
    work,
    gitDir: join(work, 'git'),
    home: join(work, 'home'),
    remove: () => (place === null ? Promise.resolve() : remove(outer, clock)),
  };
}

async function remove(outer: string, clock: Clock): Promise<void> {
  const until = clock.monotonic() + REMOVE_WITHIN_MS;
  await removeFolderOf(join(outer, WORK), () => clock.monotonic() >= until);
}

/** What fetches that were killed left behind. */
async function removeLeftovers(folder: string, clock: Clock): Promise<void> {
  for (const name of await someNames(folder, LEFTOVERS_MAX, (name) => name.startsWith(PREFIX))) {
    const stats = await lstat(join(folder, name)).catch(() => null);
    if (stats === null || clock.now() - stats.mtimeMs <= LEFTOVER_MS) continue;
    // An earlier build gave the folder itself to the account.
    if (stats.uid === process.geteuid?.()) await remove(join(folder, name), clock);
    else await eraseEntry(folder, name, clock);
  }
}
