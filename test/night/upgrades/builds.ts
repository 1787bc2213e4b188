/** The older builds whose data this build must take over, and how one is installed from the history. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { patient } from '../../support/measure/slowness.ts';

export const ROOT = join(import.meta.dirname, '..', '..', '..');

export interface OldBuild {
  readonly name: string;
  readonly commit: string;
  /** The number of its newest migration. */
  readonly schema: number;
  /** `refused`: its first migration was still changed after it, so that its stores were never to be upgraded. */
  readonly outcome: 'upgraded' | 'refused';
  /** Whether its daemon may run beside this build on one PostgreSQL: docs/how-to/upgrade.md. */
  readonly isRolling: boolean;
}

export const OLD_BUILDS: readonly OldBuild[] = [
  // The first commit whose daemon starts.
  { name: 'first-daemon', commit: '896b67f6', schema: 1, outcome: 'refused', isRolling: false },
  // The first one with the migration 1 of today: jobs and tokens.
  { name: 'jobs', commit: '8fe94759', schema: 1, outcome: 'upgraded', isRolling: false },
  // Workspaces, approvals, rules and events; the last schemas before the keyed ledger follow it.
  { name: 'reaction', commit: '5689d00a', schema: 10, outcome: 'upgraded', isRolling: true },
  // The keyed ledger, inventories, workflows, playbooks and backups; checks are the next migration.
  { name: 'playbooks', commit: 'e9e6d71a', schema: 23, outcome: 'upgraded', isRolling: true },
  // The last one without the newest migration.
  { name: 'previous-schema', commit: '643c0049', schema: 34, outcome: 'upgraded', isRolling: true },
  // The schema of today, by the program of the day after its migration.
  { name: 'same-schema', commit: 'a6a49c18', schema: 35, outcome: 'upgraded', isRolling: true },
];

/** Of `git archive` and `tar`, which take a second. */
const UNPACK_LIMIT_MS = 60_000;
/** npm fetches some forty packages, and the Node of 120 MB, from its cache or the registry. */
const INSTALL_LIMIT_MS = 300_000;
/** As much of an output as an error message needs. */
const OUTPUT_TAIL_CHARS = 2_000;

/** The checkout of a build with its own packages; the path of its `svc`. Rejects with what npm said. */
export async function installBuild({ commit }: OldBuild, folder: string): Promise<string> {
  // Jobs of a daemon that is root may run as another account, and read the program that starts them.
  mkdirSync(folder, { mode: 0o755 });
  const archive = join(folder, 'build.tar');
  await run('git', ['-C', ROOT, 'archive', `--output=${archive}`, commit], ROOT, UNPACK_LIMIT_MS);
  await run('tar', ['-xf', archive, '-C', folder], folder, UNPACK_LIMIT_MS);
  const npm = ['ci', '--omit=dev', '--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund'];
  await run('npm', [...npm, '--loglevel=error'], folder, INSTALL_LIMIT_MS);
  return join(folder, 'bin', 'svc');
}

/** Whether this clone has the commits of the table. */
export async function hasHistory(): Promise<boolean> {
  try {
    for (const { commit } of OLD_BUILDS)
      await run('git', ['-C', ROOT, 'cat-file', '-e', `${commit}^{commit}`], ROOT, UNPACK_LIMIT_MS);
    return true;
  } catch {
    return false;
  }
}

async function run(program: string, args: readonly string[], cwd: string, limitMs: number): Promise<void> {
  const child = spawn(program, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'], timeout: patient(limitMs) });
  let output = '';
  const keep = (chunk: Buffer): void => void (output = (output + chunk.toString()).slice(-OUTPUT_TAIL_CHARS));
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  if (code !== 0) throw new Error(`${program} ${args.slice(0, 3).join(' ')} ended with ${signal ?? code}: ${output}`);
}
