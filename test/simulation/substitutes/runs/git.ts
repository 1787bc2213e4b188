import fs from 'node:fs';
import { dirname, join } from 'node:path';
import { Failure } from '../../../../src/domain/failure.ts';
import { pause } from '../../../../src/lib/clock.ts';
import { fetchGit as realFetch } from '../../../../src/runners/checkout/git/git.ts';
import { FILES, textOf, theRemotes } from '../../programs/git/remotes.ts';
import { running, theWorld } from '../../world/current.ts';
import { failOnFile } from '../../world/disk.ts';
import { stepped } from '../stepped.ts';

/** Of a fetch, before and after the server says what the ref is, at most. */
const FETCH_MS = 4_000;

/** Git without a process: what a ref is at some moment of the fetch, and its files one after the other. */
export async function fetchGit(options: Parameters<typeof realFetch>[0]): ReturnType<typeof realFetch> {
  const host = running()?.host;
  if (host === undefined) return realFetch(options);
  const world = theWorld();
  const chance = world.chance.of(`${host.name}/git`);
  const wait = async (): Promise<void> => {
    if (!(await pause(world.clock(), chance.whole(1, FETCH_MS), options.signal)))
      throw new Failure('unavailable', 'git: the fetch was stopped.');
  };
  await wait();
  const commit = theRemotes().resolve(options.ref ?? 'HEAD');
  await wait();
  const tree = join(options.into, 'tree');
  for (const file of FILES) await write(join(tree, file), textOf(commit));
  return { commit, tree };
}

async function write(path: string, text: string): Promise<void> {
  await stepped(() => fs.mkdirSync(dirname(path), { recursive: true, mode: 0o700 }));
  try {
    await stepped(() => {
      failOnFile();
      fs.writeFileSync(path, text);
    });
  } catch (error) {
    throw new Failure('unavailable', `The files cannot be written (${String(error)}).`);
  }
}
