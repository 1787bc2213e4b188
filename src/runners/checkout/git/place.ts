import { lchown, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { AccountIds } from '../../../domain/jobs/account.ts';
import type { Clock } from '../../../lib/clock.ts';
import { randomName } from '../../../lib/random.ts';
import { eraseEntry, eraseLeftovers } from '../erase.ts';

/** Where git of a service that is root works as another account: a folder of the service that the account may pass. */
export interface GitPlace {
  readonly account: AccountIds;
  readonly folder: string;
}

/** No job id begins with a dot. */
const PREFIX = '.git-';

/** The folder that git may write, and the two in it. */
export interface GitFolders {
  readonly work: string;
  readonly gitDir: string;
  readonly home: string;
  remove(): Promise<void>;
}

/** Makes an empty bare repository and the home of git: in `into`, or in `place`, where they belong to its account. */
export async function makeGitFolders(into: string, place: GitPlace | null, clock: Clock): Promise<GitFolders> {
  const name = `${PREFIX}${randomName()}`;
  if (place !== null) await eraseLeftovers(place.folder, PREFIX, clock);
  const work = place === null ? join(into, 'work') : join(place.folder, name);
  const gitDir = join(work, 'git');
  const home = join(work, 'home');
  const made = [work, home, gitDir, join(gitDir, 'objects'), join(gitDir, 'refs')];
  for (const folder of made) await mkdir(folder, { mode: 0o700 });
  const files = { HEAD: 'ref: refs/heads/none\n', config: '[core]\n\trepositoryformatversion = 0\n\tbare = true\n' };
  for (const [file, text] of Object.entries(files)) {
    await writeFile(join(gitDir, file), text, { mode: 0o600, flag: 'wx' });
    made.push(join(gitDir, file));
  }
  // Before git is started, so that no process changes these paths. The outermost comes last.
  if (place !== null) for (const path of made.toReversed()) await lchown(path, place.account.uid, place.account.gid);
  return {
    work,
    gitDir,
    home,
    remove: () => (place === null ? Promise.resolve() : eraseEntry(place.folder, name, clock)),
  };
}
