/**
 * `npm run upgrades [-- [--only BUILD] [--story STORY]]`: the data of older builds of this repository's history under
 * this build, on SQLite and PostgreSQL, then both builds at once. docs/contributing/upgrades.md has the rest. Exits
 * with 1 when a check failed.
 */
import { mkdtempSync, chmodSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readArguments, refuseArgument } from '../../../scripts/arguments.ts';
import type { Ending } from '../../support/fixtures/installation.ts';
import { hasHistory, installBuild, OLD_BUILDS, type OldBuild } from './builds.ts';
import { Report } from './report.ts';
import { runRolling } from './rolling.ts';
import { runRefusal, runUpgrade, type Scene } from './upgrade.ts';

type Story = (ending: Ending, report: Report, build: Pick<Scene, 'row' | 'old'>) => Promise<void>;

const STORIES: Readonly<Record<string, { readonly tells: (row: OldBuild) => boolean; readonly run: Story }>> = {
  'sqlite-refused': refusal(false),
  'postgres-refused': refusal(true),
  'sqlite-stopped': upgrade({ postgres: false, end: 'stopped' }),
  'sqlite-killed': upgrade({ postgres: false, end: 'killed' }),
  'postgres-stopped': upgrade({ postgres: true, end: 'stopped' }),
  'postgres-killed': upgrade({ postgres: true, end: 'killed' }),
  rolling: { tells: ({ isRolling }) => isRolling, run: runRolling },
};

const USAGE = 'npm run upgrades [-- [--only BUILD] [--story STORY]]';
const { values } = readArguments(USAGE, { only: { type: 'string' }, story: { type: 'string' } });
const builds = chosen(
  'build',
  values.only,
  OLD_BUILDS.map(({ name }) => name),
);
const stories = chosen('story', values.story, Object.keys(STORIES));

const interrupted = Promise.withResolvers<never>();
// Also between stories, where nothing waits for it.
interrupted.promise.catch(() => undefined);
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.once(signal, () => interrupted.reject(new Error(`Interrupted by ${signal}.`)));

const report = new Report();
if (await hasHistory()) for (const row of OLD_BUILDS.filter(({ name }) => builds.includes(name))) await runBuild(row);
else report.leaveOut('all older builds', 'missing: the history of this repository (git fetch --unshallow)');
console.log(`\n${report.summary()}`);
if (!report.isGreen) process.exitCode = 1;

function upgrade(how: Pick<Scene, 'postgres' | 'end'>): (typeof STORIES)[string] {
  return {
    tells: ({ outcome }) => outcome === 'upgraded',
    run: (ending, to, build) => runUpgrade(ending, to, { ...build, ...how }),
  };
}

function refusal(postgres: boolean): (typeof STORIES)[string] {
  return {
    tells: ({ outcome }) => outcome === 'refused',
    run: (ending, to, build) => runRefusal(ending, to, { ...build, postgres }),
  };
}

function chosen(what: string, name: string | undefined, all: readonly string[]): readonly string[] {
  if (name === undefined) return all;
  if (!all.includes(name)) refuseArgument(`There is no ${what} ${name}: expected ${all.join(', ')}.`, USAGE);
  return [name];
}

async function runBuild(row: OldBuild): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-old-build-'));
  chmodSync(folder, 0o755);
  try {
    let svc: string | null = null;
    await report.check(`${row.name}: ${row.commit} is installed`, async () => {
      svc = await installBuild(row, join(folder, 'build'));
    });
    if (svc !== null) await runStories(row, svc);
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function runStories(row: OldBuild, svc: string): Promise<void> {
  const build = { row, old: { svc, isThisBuild: false } };
  for (const name of stories) {
    const story = STORIES[name];
    if (story?.tells(row) === true) await end((ending) => story.run(ending, report, build));
  }
}

/** Runs a story and ends what it began, also where it fails or is interrupted. */
async function end(run: (ending: Ending) => Promise<void>): Promise<void> {
  const endings: (() => Promise<void>)[] = [];
  try {
    await Promise.race([run({ after: (step) => void endings.push(step) }), interrupted.promise]);
  } finally {
    for (const step of endings.toReversed()) await step();
  }
}
