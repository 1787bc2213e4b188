/** `npm run ok`: everything that CI runs, in order, up to the first that fails, with the time that each took. */
import { spawn } from 'node:child_process';
import { delimiter, join } from 'node:path';
import { find } from '../test/support/tools.ts';
import { readArguments } from './arguments.ts';

const ROOT = join(import.meta.dirname, '..');
const BIN = join(ROOT, 'node_modules', '.bin');

interface Step {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
}

const TESTS = join(ROOT, 'scripts', 'tests', 'main.ts');

/** What the plan and the state of a run depend on the tool for; the other infrastructure tests run on one tool. */
const TOFU_CORE = [
  'src/runners/terraform/plan-file.test.ts',
  'src/runners/terraform/plan-reader.test.ts',
  'test/proof/workspaces/plan-integrity.test.ts',
  'test/stories/workspaces/brought-state.test.ts',
  'test/stories/workspaces/own-backend.test.ts',
  'test/stories/workspaces/saved-plan.test.ts',
];

const STEPS: readonly Step[] = [
  { name: 'types', command: join(BIN, 'tsc'), args: ['--noEmit'] },
  { name: 'types of the script', command: join(BIN, 'tsc'), args: ['--noEmit', '-p', 'src/faces/web/client'] },
  { name: 'lint', command: join(BIN, 'oxlint'), args: ['--type-aware', '--deny-warnings'] },
  { name: 'format', command: join(BIN, 'prettier'), args: ['--check', '--log-level', 'warn', '.'] },
  { name: 'tests', command: process.execPath, args: [TESTS] },
  { name: 'proofs', command: process.execPath, args: [TESTS, '--proof'] },
  // Where there is no terraform, all tests have run on tofu.
  ...(find('terraform') === null
    ? []
    : [{ name: 'tests on tofu', command: process.execPath, args: [TESTS, '--on-tofu', ...TOFU_CORE] }]),
];

/** Resolves to undefined when the step is green, else to what became of it. Signals are handed on to the step. */
function run({ command, args }: Step): Promise<string | undefined> {
  const env = { ...process.env, PATH: `${BIN}${delimiter}${process.env['PATH'] ?? ''}` };
  const child = spawn(command, args, { cwd: ROOT, env, stdio: 'inherit' });
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  const forward = (signal: NodeJS.Signals): void => void child.kill(signal);
  for (const signal of signals) process.on(signal, forward);
  return new Promise((resolve) => {
    const end = (failure: string | undefined): void => {
      for (const signal of signals) process.off(signal, forward);
      resolve(failure);
    };
    child.once('error', (error) => end(error.message));
    child.once('exit', (code, signal) => end(code === 0 ? undefined : (signal ?? `exit code ${code}`)));
  });
}

readArguments('npm run ok', {});
for (const step of STEPS) {
  const startedMs = performance.now();
  const failure = await run(step);
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  if (failure !== undefined) {
    console.error(`not ok: ${step.name}, ${failure}, after ${seconds} s`);
    process.exit(1);
  }
  console.log(`ok: ${step.name} ${seconds} s`);
}
