/**
 * `npm test` and `npm run proof`: run the tests of a suite (suites.ts), with one PostgreSQL for all of them.
 *
 *     npm test -- [--update-golden] [--on-tofu] [--on-sources] [--test-...=...] [FILE...]
 *     npm run proof -- ...
 *
 * With files named, only these run, wherever they are, and one that needs PostgreSQL starts its own. `--update-golden`
 * makes golden tests write what they would compare. `--on-tofu` hides terraform, so that infrastructure tests run on
 * OpenTofu. Tests start daemons from the bundle (scripts/bundle.ts); `--on-sources` makes it the sources. Options that
 * begin with `--test-` are node's and are handed on.
 *
 * Tests that need something which the machine lacks are left out, and one line for each says so (the table is in
 * test/support/tools.ts). With `GATEHOUSE_TEST_ALL=1` that is a failure.
 */
import { chmodSync, existsSync, globSync, mkdtempSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join, relative, resolve } from 'node:path';
import { openingOf } from '../../src/lib/files/closed.ts';
import { POSTGRES_URL_VARIABLE, type PostgresServer, startPostgres } from '../../test/support/postgres/postgres.ts';
import { makeTemplates } from '../../test/support/store/template.ts';
import { ALL_VARIABLE, IS_ALL_REQUIRED } from '../../test/support/tools.ts';
import { BUNDLE, bundle } from '../bundle.ts';
import { openTemporaryFolder, placeProgram } from './open-folder.ts';
import { Report } from './report.ts';
import { runLanes } from './run.ts';
import { searchPathFor, searchPathOnTofu } from './search-path.ts';
import { type Lane, lanesOf, separately, type SuiteName, SUITES } from './suites.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const BIN = join(ROOT, 'node_modules', '.bin');

/** Where bin/svc keeps compiled modules too: each process compiles only what is new. */
const COMPILE_CACHE = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'gatehouse', 'modules');

const UPDATE_GOLDEN_VARIABLE = 'GATEHOUSE_UPDATE_GOLDEN';
/** Where test/support/daemon.ts finds the program. */
const MAIN_VARIABLE = 'GATEHOUSE_MAIN';

const FLAGS = ['--proof', '--update-golden', '--on-tofu', '--on-sources'];
const PACKAGES = '**/node_modules/**';

interface Arguments {
  readonly suite: SuiteName;
  readonly updateGolden: boolean;
  readonly onTofu: boolean;
  readonly onSources: boolean;
  readonly forNode: readonly string[];
  readonly files: readonly string[];
}

function parse(args: readonly string[]): Arguments {
  const flags = args.filter((arg) => arg.startsWith('-') && arg !== '--');
  const unknown = flags.find((flag) => !FLAGS.includes(flag) && !flag.startsWith('--test-'));
  if (unknown !== undefined)
    throw new Error(`Unknown option ${unknown}: expected ${FLAGS.join(', ')}, --test-... or files.`);
  return {
    suite: flags.includes('--proof') ? 'proof' : 'test',
    updateGolden: flags.includes('--update-golden'),
    onTofu: flags.includes('--on-tofu'),
    onSources: flags.includes('--on-sources'),
    forNode: flags.filter((flag) => flag.startsWith('--test-')),
    files: args.filter((arg) => !arg.startsWith('-')),
  };
}

function lanesFor({ suite, files }: Arguments): Lane[] {
  if (files.length === 0) return lanesOf(suite, ROOT);
  const named = files.flatMap((pattern) => {
    const found = globSync(pattern, { exclude: [PACKAGES] });
    if (found.length === 0) throw new Error(`There is no test file ${pattern}.`);
    return found.toSorted().map((file) => relative(ROOT, resolve(file)));
  });
  return separately(named);
}

/** The environment of the tests: this search path, and no setting of the person who runs them. */
function environment(args: Arguments, path: string, temporary: string): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith('SVC_'));
  return {
    // As for svc itself, one that others can change is not used.
    ...(openingOf(COMPILE_CACHE) === null ? { NODE_COMPILE_CACHE: COMPILE_CACHE } : {}),
    ...Object.fromEntries(kept),
    PATH: path,
    TMPDIR: temporary,
    ...(args.onSources ? {} : { [MAIN_VARIABLE]: join(BUNDLE, 'main.js') }),
    ...(args.updateGolden ? { [UPDATE_GOLDEN_VARIABLE]: '1' } : {}),
  };
}

/** Aborts at the first signal; a second one ends this process at once. */
function interruption(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => controller.abort());
  return controller.signal;
}

/** A server for all tests with a template of each store, unless one is given or few files are named. */
async function startServer(args: Arguments, scratch: string, env: NodeJS.ProcessEnv): Promise<PostgresServer | null> {
  if (args.files.length > 0 || (process.env[POSTGRES_URL_VARIABLE] ?? '') !== '') return null;
  const server = await startPostgres();
  process.env[POSTGRES_URL_VARIABLE] = server.url;
  Object.assign(env, { [POSTGRES_URL_VARIABLE]: server.url }, await makeTemplates(scratch));
  return server;
}

async function main(): Promise<number> {
  const args = parse(process.argv.slice(2));
  const lanes = lanesFor(args);
  const signal = interruption();
  const temporary = openTemporaryFolder();
  const scratch = mkdtempSync(join(temporary, 'gatehouse-tests-'));
  chmodSync(scratch, 0o755);
  let server: PostgresServer | null = null;
  try {
    const open = join(scratch, 'open');
    const own = `${BIN}${delimiter}${process.env['PATH'] ?? ''}`;
    const path = args.onTofu ? searchPathOnTofu(own, open, scratch) : searchPathFor(own, open);
    if (path === null) return 1;
    if (!args.onSources) await bundle(BUNDLE);
    const env = environment(args, path, temporary);
    server = await startServer(args, scratch, env);
    const ours = join(BIN, 'node');
    // Tests run programs as jobs, often this Node.
    const node = placeProgram(existsSync(ours) ? ours : process.execPath, open);
    const report = new Report((line) => void process.stdout.write(`${line}\n`));
    await runLanes(lanes, { limits: SUITES[args.suite], node, nodeArgs: args.forNode, env, signal }, report);
    report.summary();
    if (!IS_ALL_REQUIRED || report.missing.length === 0) return report.isGreen ? 0 : 1;
    console.error(`${ALL_VARIABLE} is set, and tests were left out for: ${report.missing.join(', ')}.`);
    return 1;
  } finally {
    await server?.stop();
    rmSync(scratch, { recursive: true, force: true });
  }
}

try {
  process.exitCode = await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
