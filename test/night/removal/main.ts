/**
 * `npm run removal`: an area is taken out of a copy of the project by its folders and one line in each list, and what
 * is left is green.
 *
 *     npm run removal [-- AREA...]
 *
 * In the copy the generated files are made again, then types, lint and tests run. Documents keep what they say of the
 * area, so their tests are left out. Exit code 1 where something is red, 2 for a wrong option.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readArguments, refuseArgument } from '../../../scripts/arguments.ts';
import { takeOut } from './take-out.ts';

const USAGE = 'npm run removal [-- [AREA]...]';
const ROOT = join(import.meta.dirname, '..', '..', '..');
/**
 * Those that the rest must be whole without, each with the names under which other lists know it. Others are used by
 * areas beside them, as netgroups is by rules.
 */
const AREAS: Readonly<Record<string, readonly string[]>> = {
  backups: ['backups', 'backup', 'backup.list', 'Backups', 'backup-restore', 'openRestore'],
  deadman: ['watches'],
  vendor: ['vendor'],
};
const LEFT = ['.git', 'dist'].map((name) => join(ROOT, name));
const LIMIT_MS = 1_800_000;

/** The steps in the copy, each ended after LIMIT_MS. */
const NODE = ['node', '--disable-warning=ExperimentalWarning'] as const;
const STEPS: readonly (readonly [string, ...string[]])[] = [
  ['node_modules/.bin/tsc', '--noEmit'],
  ['node_modules/.bin/oxlint', '--type-aware', '--deny-warnings', 'src', 'test', 'scripts', 'bench'],
  [...NODE, 'scripts/tests/main.ts', ...goldenArguments()],
  [...NODE, 'scripts/tests/main.ts', 'src', 'test/api', 'test/store', 'test/stories', 'test/mcp', 'test/text'],
];

/** Of `npm run golden`, which sets the project up. */
function goldenArguments(): string[] {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: { golden: string } };
  const [, words = ''] = scripts.golden.split('scripts/tests/main.ts ');
  return words.replaceAll("'", '').split(' ');
}

function isGreen(area: string): boolean {
  const home = mkdtempSync(join(tmpdir(), 'gatehouse-removal-'));
  const copy = join(home, 'copy');
  try {
    // With its packages and their times: a test that sets the project up installs nothing, least of all through a link.
    const filter = (path: string): boolean => !LEFT.includes(path);
    cpSync(ROOT, copy, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true, filter });
    const taken = takeOut(copy, area, AREAS[area] ?? []);
    const shared = Map.groupBy(
      taken.lines.filter(({ file }) => file.startsWith('src/') && !file.endsWith('.test.ts')),
      ({ file }) => file,
    );
    console.log(`${area}: taken out of ${shared.size} shared files of the source`);
    for (const [file, lines] of shared) console.log(`  ${file}: ${lines.map(({ line }) => line).join(' ')}`);
    // Titles of tests are only ever added to them.
    for (const titles of ['titles.txt', 'scenarios.txt']) writeFileSync(join(copy, 'test', 'golden', titles), '');
    for (const file of taken.tests) console.log(`  left out: ${file}`);
    return STEPS.every(([program, ...args]) => {
      const { status } = spawnSync(program, args, { cwd: copy, stdio: 'inherit', timeout: LIMIT_MS });
      console.log(`${area}: ${program} ${args[0] ?? ''}: ${status === 0 ? 'green' : 'red'}`);
      return status === 0;
    });
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

const { positionals } = readArguments(USAGE, {}, true);
const unknown = positionals.find((name) => !Object.hasOwn(AREAS, name));
if (unknown !== undefined)
  refuseArgument(`There is no ${unknown}; expected some of ${Object.keys(AREAS).join(', ')}.`, USAGE);
const all = positionals.length === 0 ? Object.keys(AREAS) : positionals;
const red = all.filter((area) => !isGreen(area));
console.log(red.length === 0 ? 'All green.' : `Red without: ${red.join(', ')}`);
process.exit(red.length === 0 ? 0 : 1);
