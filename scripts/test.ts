/**
 * `npm test`: runs `node --test` over all tests but the long chaos runs, with one PostgreSQL for all of them.
 *
 *     npm test -- [--update-golden] [--on-tofu] [--on-sources] [--test-...=...] [FILE...]
 *
 * With files named, only these run, and one that needs PostgreSQL starts its own. `--update-golden` makes golden
 * tests write what they would compare. `--on-tofu` hides terraform, so that infrastructure tests run on OpenTofu.
 * Tests start daemons from the bundle (scripts/bundle.ts); `--on-sources` makes it the sources. Options that begin with
 * `--test-` are node's and are handed on.
 *
 * Tests that need a program which the machine lacks are left out, and one line for each program says so (the table is
 * in test/support/tools.ts). In CI that is a failure.
 */
import { spawn } from 'node:child_process';
import { existsSync, globSync, mkdtempSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { delimiter, join, relative, resolve } from 'node:path';
import { POSTGRES_URL_VARIABLE, type PostgresServer, startPostgres } from '../test/support/postgres/postgres.ts';
import { makeTemplates } from '../test/support/store/template.ts';
import { BUNDLE, bundle } from './bundle.ts';
import { measurePatience } from './patience.ts';
import { inGroups } from './test-groups.ts';
import { searchPathFor, searchPathOnTofu } from './test-path.ts';

const ROOT = join(import.meta.dirname, '..');
const BIN = join(ROOT, 'node_modules', '.bin');

/**
 * Files at a time, on two cores: with two of them half of the processor was left, because tests of daemons wait for
 * starts, leases and disks. The minute of fuzz is a separate file (test/fuzz/fuzz.test.ts): others run beside it.
 */
const CONCURRENCY = 3;

/**
 * Ends a test that hangs, and measures nothing: beside a busy core a playbook over SSH has taken a minute. A test that
 * needs longer says so in its own `timeout` option. Both are longer on a slow machine (patience.ts).
 */
const TEST_TIMEOUT_MS = 120_000;

/** node's time-out holds for tests, not for a file that hangs after its last one. Twelve minutes on two quick cores. */
const RUN_DEADLINE_MS = 22 * 60_000;

/** Between the request to end and the kill: node needs it to name the files that were running. */
const STOP_GRACE_MS = 5_000;

/** Where bin/svc keeps compiled modules too: each test file is a process, and compiles only what is new. */
const COMPILE_CACHE = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'gatehouse', 'modules');

const UPDATE_GOLDEN_VARIABLE = 'GATEHOUSE_UPDATE_GOLDEN';

/** Packages that folders of tests install carry tests too. */
const PACKAGES = '**/node_modules/**';

const FLAGS = ['--update-golden', '--on-tofu', '--on-sources'];

/** Where test/support/measure/patience.ts finds how much longer time limits are here. */
const PATIENCE_VARIABLE = 'GATEHOUSE_TEST_PATIENCE';

/** Where test/support/daemon.ts finds the program. */
const MAIN_VARIABLE = 'GATEHOUSE_MAIN';

interface Arguments {
  readonly updateGolden: boolean;
  readonly onTofu: boolean;
  readonly onSources: boolean;
  readonly forNode: readonly string[];
  readonly files: readonly string[];
}

const patience = Number(process.env[PATIENCE_VARIABLE] ?? measurePatience());

function parse(args: readonly string[]): Arguments {
  const flags = args.filter((arg) => arg.startsWith('-') && arg !== '--');
  const unknown = flags.find((flag) => !FLAGS.includes(flag) && !flag.startsWith('--test-'));
  if (unknown !== undefined)
    throw new Error(`Unknown option ${unknown}: expected ${FLAGS.join(', ')}, --test-... or files.`);
  return {
    updateGolden: flags.includes('--update-golden'),
    onTofu: flags.includes('--on-tofu'),
    onSources: flags.includes('--on-sources'),
    forNode: flags.filter((flag) => flag.startsWith('--test-')),
    files: args.filter((arg) => !arg.startsWith('-')),
  };
}

/** The named tests, or all but the long chaos runs, as paths from the root. */
function testFiles(named: readonly string[]): string[] {
  if (named.length === 0)
    return globSync(['src/**/*.test.ts', 'test/**/*.test.ts'], {
      cwd: ROOT,
      exclude: [PACKAGES, 'test/chaos/**'],
    }).toSorted();
  return named.flatMap((pattern) => {
    const files = globSync(pattern, { exclude: [PACKAGES] });
    if (files.length === 0) throw new Error(`There is no test file ${pattern}.`);
    return files.toSorted().map((file) => relative(ROOT, resolve(file)));
  });
}

/** The tests' environment: this search path, and no setting of the person who runs them. */
function environment(args: Arguments, path: string, stores: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith('SVC_'));
  return {
    ...Object.fromEntries(kept),
    PATH: path,
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? COMPILE_CACHE,
    [PATIENCE_VARIABLE]: String(patience),
    ...stores,
    ...(args.onSources ? {} : { [MAIN_VARIABLE]: join(BUNDLE, 'main.js') }),
    ...(args.updateGolden ? { [UPDATE_GOLDEN_VARIABLE]: '1' } : {}),
  };
}

/** Runs node's test runner as the leader of a new process group, so that an end reaches every test file. */
function runTests(args: Arguments, files: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const ours = join(BIN, 'node');
  const child = spawn(
    existsSync(ours) ? ours : process.execPath,
    [
      '--disable-warning=ExperimentalWarning',
      '--expose-gc',
      '--test',
      '--test-reporter=spec',
      `--test-concurrency=${CONCURRENCY}`,
      `--test-timeout=${TEST_TIMEOUT_MS * patience}`,
      ...args.forNode,
      ...files,
    ],
    { cwd: ROOT, env, stdio: ['ignore', 'inherit', 'inherit'], detached: true },
  );
  const send = (signal: NodeJS.Signals): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, signal);
    } catch {
      // The group is gone already.
    }
  };
  let stopped = false;
  const stop = (): void => {
    if (stopped) return send('SIGKILL');
    stopped = true;
    child.kill('SIGINT');
    setTimeout(() => send('SIGKILL'), STOP_GRACE_MS).unref();
  };
  const deadline = setTimeout(stop, RUN_DEADLINE_MS * patience);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => {
      clearTimeout(deadline);
      send('SIGKILL'); // What a test left running in this group must not outlive the run.
      resolve(stopped ? 1 : (code ?? 1));
    });
  });
}

async function main(): Promise<number> {
  const args = parse(process.argv.slice(2));
  const files = testFiles(args.files);
  const shared = args.files.length === 0 && (process.env[POSTGRES_URL_VARIABLE] ?? '') === '';
  const scratch = mkdtempSync(join(tmpdir(), 'gatehouse-tests-'));
  let server: PostgresServer | undefined;
  try {
    const own = `${BIN}${delimiter}${process.env['PATH'] ?? ''}`;
    const path = args.onTofu ? searchPathOnTofu(own, scratch) : searchPathFor(own, files);
    if (path === null) return 0;
    if (!args.onSources) await bundle(BUNDLE);
    if (!shared) return await runTests(args, files, environment(args, path, {}));
    server = await startPostgres();
    process.env[POSTGRES_URL_VARIABLE] = server.url;
    return await runTests(args, inGroups(files, ROOT, scratch), environment(args, path, await makeTemplates(scratch)));
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
