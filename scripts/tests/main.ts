/**
 * `npm test` and `npm run proof`: run the tests of a suite (suites.ts), with one PostgreSQL for all of them.
 *
 *     npm test -- [--update-golden] [--on-tofu] [--on-sources] [--left-out=LIST] [--test-...=...] [FILE|FOLDER]...
 *     npm run proof -- [--with=LIST] ...
 *
 * With files or folders named, only their tests run, wherever they are, and one that needs PostgreSQL starts its own.
 * `--update-golden` makes golden tests write what they would compare. `--on-tofu` hides terraform, so that
 * infrastructure tests run on OpenTofu. Tests start daemons from the bundle (scripts/bundle.ts); `--on-sources` makes
 * it the sources. Options that begin with `--test-` are node's and are handed on.
 *
 * Tests that need something which the machine lacks are left out, and one line for each says so (the table is in
 * test/support/tools.ts). With `GATEHOUSE_TEST_ALL=1` that is a failure. `--left-out` lists their files in a file, and
 * `--with` runs the files of such a list beside the proofs: so what a bare machine leaves out is run once elsewhere.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { openingOf } from '../../src/lib/files/closed.ts';
import { POSTGRES_URL_VARIABLE, type PostgresServer, startPostgres } from '../../test/support/postgres/postgres.ts';
import { makeTemplates } from '../../test/support/store/template.ts';
import { ALL_VARIABLE, IS_ALL_REQUIRED } from '../../test/support/tools.ts';
import { refuseArgument, WrongArgument } from '../arguments.ts';
import { BUNDLE, bundle } from '../bundle.ts';
import { whenNpmEnds } from '../npm-end.ts';
import { type Arguments, parseArguments, USAGE } from './arguments.ts';
import { placeProgram } from './open-folder.ts';
import { Report } from './report.ts';
import { runLanes } from './run.ts';
import { makeScratch } from './scratch.ts';
import { searchPathFor, searchPathOnTofu } from './search-path.ts';
import { lanesOf, separately, SUITES } from './suites.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const BIN = join(ROOT, 'node_modules', '.bin');

/** As shells have it for SIGINT. */
const EXIT_INTERRUPTED = 130;

/** Where bin/svc keeps compiled modules too: each process compiles only what is new. */
const COMPILE_CACHE = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'gatehouse', 'modules');

const UPDATE_GOLDEN_VARIABLE = 'GATEHOUSE_UPDATE_GOLDEN';
/** Where test/support/daemon.ts finds the program. */
const MAIN_VARIABLE = 'GATEHOUSE_MAIN';

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
  const interrupt = (): void => {
    if (controller.signal.aborted) process.exit(EXIT_INTERRUPTED);
    controller.abort();
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, interrupt);
  whenNpmEnds(() => controller.abort());
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
  const args = parseArguments(process.argv.slice(2), ROOT);
  const lanes = args.files.length === 0 ? lanesOf(args.suite, ROOT, args.others) : separately(args.files);
  const signal = interruption();
  const { folder: scratch, temporary } = makeScratch();
  // The server's files too.
  process.env['TMPDIR'] = temporary;
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
    if (args.leftOut !== null) writeFileSync(args.leftOut, report.filesLeftOut.join('\n'));
    if (!IS_ALL_REQUIRED || report.missing.length === 0) return report.isGreen ? 0 : 1;
    console.error(`${ALL_VARIABLE} is set, and tests were left out for: ${report.missing.join(', ')}.`);
    return 1;
  } finally {
    await server?.stop();
  }
}

try {
  process.exitCode = await main();
} catch (error) {
  if (error instanceof WrongArgument) refuseArgument(error.message, USAGE);
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
