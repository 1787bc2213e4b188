/**
 * `npm run machines [-- [--only NAME]... [--step setup|demo|test]...]`: the first run of a fresh clone (set-up, demo,
 * tests) on smallest Debians that have npm and Node alone. `--only` takes machines whose names begin like that. Exits
 * with 1 when a step failed. docs/contributing/machines.md has the rest.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { readArguments, refuseArgument } from '../../../scripts/arguments.ts';
import { find, IS_ALL_REQUIRED } from '../../support/tools.ts';
import { CACHE, LOGS } from './base.ts';
import { ENGINES } from './engines.ts';
import { Guest } from './guest.ts';
import { stopAll } from './run.ts';
import { type StepName, STEPS } from './steps.ts';
import { type Machine, MACHINES } from './table.ts';

/** Programs of this machine that each machine needs, by their Debian packages. */
const NEEDS = { mmdebstrap: 'mmdebstrap', useradd: 'passwd', git: 'git' };
/** As shells have it for SIGINT. */
const EXIT_INTERRUPTED = 130;
const MS_PER_S = 1_000;

interface Row {
  readonly name: string;
  readonly step: string;
  readonly result: 'passed' | 'failed' | 'skipped';
  readonly note: string;
}

const rows: Row[] = [];

const USAGE = 'npm run machines [-- [--only NAME]... [--step setup|demo|test]...]';
const { values } = readArguments(USAGE, {
  only: { type: 'string', multiple: true },
  step: { type: 'string', multiple: true },
});
const stepNames = Object.keys(STEPS) as StepName[];
const unknown = values.step?.find((name) => !stepNames.some((each) => each === name));
if (unknown !== undefined) refuseArgument(`There is no step ${unknown}.`, USAGE);
// The others need what the set-up installs.
const steps = stepNames.filter((name) => name === 'setup' || (values.step?.includes(name) ?? true));
const machines = MACHINES.filter(({ name }) => values.only?.some((each) => name.startsWith(each)) ?? true);
if (machines.length === 0)
  refuseArgument(`There is no such machine: expected ${MACHINES.map(({ name }) => name).join(', ')}.`, USAGE);
if (process.platform !== 'linux' || process.getuid?.() !== 0) fail('This needs root on Linux: it makes file systems.');

// Closed: the Debians have programs that run as root.
mkdirSync(CACHE, { recursive: true, mode: 0o700 });
mkdirSync(LOGS, { recursive: true });
const scratch = mkdtempSync(join(CACHE, 'run-'));
process.once('exit', () => rmSync(scratch, { recursive: true, force: true, maxRetries: 3 }));
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.once(signal, () => {
    stopAll();
    process.exit(EXIT_INTERRUPTED);
  });

console.log(`The output of each step is in ${LOGS}.`);
for (const machine of machines) {
  const missing = missingPackages(machine);
  if (missing.length === 0) await tryMachine(machine);
  else report({ name: machine.name, step: 'all', result: 'skipped', note: `missing: ${missing.join(', ')}` });
}
summarise();

async function tryMachine(machine: Machine): Promise<void> {
  const { name } = machine;
  const root = join(scratch, name);
  mkdirSync(root);
  const guest = new Guest(machine, root);
  try {
    await guest.prepare();
    for (const step of steps) {
      const begun = performance.now();
      const { fault, note } = await STEPS[step](guest);
      const seconds = ((performance.now() - begun) / MS_PER_S).toFixed(0);
      const notes = [`${seconds}s`, note, fault ?? ''].filter(Boolean).join(', ');
      report({ name, step, result: fault === null ? 'passed' : 'failed', note: notes });
      // Without its packages neither of the others begins.
      if (fault !== null && step === 'setup') return;
    }
  } catch (error) {
    const note = error instanceof Error ? error.message : String(error);
    report({ name, step: 'preparation', result: 'failed', note });
  } finally {
    rmSync(root, { recursive: true, force: true, maxRetries: 3 });
  }
}

function missingPackages({ engine, terraform }: Machine): string[] {
  const needed = Object.entries({
    ...NEEDS,
    ...ENGINES[engine].needs,
    ...(terraform ? { terraform: 'terraform' } : {}),
  });
  return needed.filter(([program]) => find(program, searched()) === null).map(([, name]) => name);
}

/** Programs of an administrator are not on the path of every shell. */
function searched(): string {
  return `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin`;
}

function report(row: Row): void {
  rows.push(row);
  console.log(line(row, row.note));
}

function line({ name, step, result }: Row, note: string): string {
  return `${name.padEnd(24)}${step.padEnd(12)}${result.padEnd(8)} ${note}`;
}

/** One line for each result, without the output that a failure has above, and the counts. */
function summarise(): void {
  const counts = Map.groupBy(rows, ({ result }) => result);
  console.log(`\n${rows.map((row) => line(row, row.note.split('\n')[0] ?? '')).join('\n')}`);
  console.log([...counts].map(([result, { length }]) => `${length} ${result}`).join(', '));
  // Where all is required, a machine that is left out was not tried.
  const bad = IS_ALL_REQUIRED ? ['failed', 'skipped'] : ['failed'];
  if (rows.some(({ result }) => bad.includes(result))) process.exitCode = 1;
}

function fail(reason: string): never {
  process.stderr.write(`${reason}\n`);
  process.exit(1);
}
