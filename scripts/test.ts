/**
 * `npm test`: runs `node --test` over all tests but the long chaos runs, with one PostgreSQL for all of them.
 *
 *     npm test -- [--update-golden] [--test-...=...] [FILE...]
 *
 * With files named, only these run, and one that needs PostgreSQL starts its own. `--update-golden` makes golden
 * tests write what they would compare. Options that begin with `--test-` are node's and are handed on.
 */
import { spawn } from 'node:child_process';
import { existsSync, globSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { POSTGRES_URL_VARIABLE, type PostgresServer, startPostgres } from '../test/support/postgres/postgres.ts';

const ROOT = join(import.meta.dirname, '..');
const CHROMIUM = '/usr/bin/chromium';
const BIN = join(ROOT, 'node_modules', '.bin');

/**
 * Two files at a time: the machine that has to do with it in under 25 minutes has two cores. The minute of fuzz is a
 * file of its own (test/fuzz/fuzz.test.ts), so that other files run beside it.
 */
const CONCURRENCY = 2;

/** A test that needs longer says so in its own `timeout` option. */
const TEST_TIMEOUT_MS = 60_000;

/** node's time-out holds for tests, not for a file that hangs after its last one. CI allows 25 minutes in all. */
const RUN_DEADLINE_MS = 22 * 60_000;

/** Between the request to end and the kill: node needs it to name the files that were running. */
const STOP_GRACE_MS = 5_000;

const UPDATE_GOLDEN_VARIABLE = 'GATEHOUSE_UPDATE_GOLDEN';

interface Arguments {
  readonly updateGolden: boolean;
  readonly forNode: readonly string[];
  readonly files: readonly string[];
}

function parse(args: readonly string[]): Arguments {
  const flags = args.filter((arg) => arg.startsWith('-') && arg !== '--');
  const unknown = flags.find((flag) => flag !== '--update-golden' && !flag.startsWith('--test-'));
  if (unknown !== undefined)
    throw new Error(`Unknown option ${unknown}: expected --update-golden, --test-... or files.`);
  return {
    updateGolden: flags.includes('--update-golden'),
    forNode: flags.filter((flag) => flag.startsWith('--test-')),
    files: args.filter((arg) => !arg.startsWith('-')),
  };
}

/**
 * Every test. Those of pages need Debian's Chromium: where it is missing they are left out and that is said, but not in
 * CI.
 */
function allTests(): string[] {
  const exclude = ['test/chaos/**'];
  if (!existsSync(CHROMIUM) && process.env['CI'] === undefined) {
    process.stderr.write(`The tests of pages (test/browser) are left out: there is no ${CHROMIUM}.\n`);
    exclude.push('test/browser/**');
  }
  return globSync(['src/**/*.test.ts', 'test/**/*.test.ts'], { cwd: ROOT, exclude }).toSorted();
}

/** The tests' environment: our node first on the PATH, and no setting of the person who runs them. */
function environment(updateGolden: boolean, postgresUrl: string | undefined): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith('SVC_'));
  return {
    ...Object.fromEntries(kept),
    PATH: `${BIN}${delimiter}${process.env['PATH'] ?? ''}`,
    ...(postgresUrl === undefined ? {} : { [POSTGRES_URL_VARIABLE]: postgresUrl }),
    ...(updateGolden ? { [UPDATE_GOLDEN_VARIABLE]: '1' } : {}),
  };
}

/** Runs node's test runner as the leader of its own process group, so that an end reaches every test file. */
function runTests(args: Arguments, postgresUrl: string | undefined): Promise<number> {
  const ours = join(BIN, 'node');
  const child = spawn(
    existsSync(ours) ? ours : process.execPath,
    [
      '--disable-warning=ExperimentalWarning',
      '--test',
      '--test-reporter=spec',
      `--test-concurrency=${CONCURRENCY}`,
      `--test-timeout=${TEST_TIMEOUT_MS}`,
      ...args.forNode,
      ...(args.files.length > 0 ? args.files : allTests()),
    ],
    {
      cwd: args.files.length > 0 ? process.cwd() : ROOT,
      env: environment(args.updateGolden, postgresUrl),
      stdio: ['ignore', 'inherit', 'inherit'],
      detached: true,
    },
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
  const deadline = setTimeout(stop, RUN_DEADLINE_MS);
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
  const shared = args.files.length === 0 && (process.env[POSTGRES_URL_VARIABLE] ?? '') === '';
  let server: PostgresServer | undefined;
  try {
    if (shared) server = await startPostgres();
    return await runTests(args, server?.url);
  } finally {
    await server?.stop();
  }
}

try {
  process.exitCode = await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
