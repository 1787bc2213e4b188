/**
 * Fetches a repository as the daemon does, as the account of the service, and git as the account of jobs. Words: the
 * URL and a folder of the service. Prints what the programs ran as, and what they made.
 */
import { lstatSync, mkdirSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { findJobAccount } from '../../../src/config/job-account.ts';
import { fetchGit } from '../../../src/runners/checkout/git/git.ts';
import { createLauncher, type Launcher } from '../../../src/runners/launch/launch.ts';
import { JOB_USER } from './capable-daemon.ts';

export interface Fetched {
  /** Of each program: the account that was asked for, and that of the folder it works in. */
  readonly started: readonly (readonly [number | undefined, number])[];
  readonly files: readonly string[];
  /** The account of the files that came out. */
  readonly owner: number;
  /** What is left of the folders of git. */
  readonly left: readonly string[];
}

const [, , url = '', base = ''] = process.argv;
if (import.meta.main) {
  const [folder, into] = [join(base, 'git-place'), join(base, 'git-into')];
  mkdirSync(folder, { mode: 0o711 });
  mkdirSync(into, { mode: 0o700 });
  const account = (await findJobAccount(JOB_USER))?.account;
  if (!account) throw new Error(`there is no account ${JOB_USER}`);
  const launcher = createLauncher();
  const started: [number | undefined, number][] = [];
  const recording: Launcher = {
    ...launcher,
    launch(request) {
      started.push([request.account?.uid, lstatSync(dirname(request.cwd)).uid]);
      return launcher.launch(request);
    },
  };
  const place = { account, folder };
  const { tree } = await fetchGit({ launcher: recording, url, ref: null, into, place, protocols: ['http'] });
  const fetched: Fetched = {
    started,
    files: readdirSync(tree),
    owner: lstatSync(join(tree, 'f')).uid,
    left: readdirSync(folder),
  };
  console.log(JSON.stringify(fetched));
}
