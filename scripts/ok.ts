/**
 * `npm run ok`: everything that CI runs, stage by stage up to the first that fails, with the time that each step took.
 * The steps of a stage run at the same time.
 */
import { spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';
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
  'test/proof/workspaces/brought-state.test.ts',
  'test/proof/workspaces/own-backend.test.ts',
  'test/proof/workspaces/saved-plan.test.ts',
];

/**
 * `bare`: the list of tests that `npm test` has left out on a machine with npm and Node alone; they run beside the
 * proofs then, and not all tests once more.
 */
function stagesFor(bare: string | null): readonly (readonly Step[])[] {
  const hasTerraform = find('terraform') !== null;
  const { execPath } = process;
  // A bare machine has tofu only.
  if (bare !== null && hasTerraform) appendFileSync(bare, ['', ...TOFU_CORE, ''].join('\n'));
  const tests = { name: 'tests', command: execPath, args: [TESTS] };
  const proofs = { name: 'proofs', command: execPath, args: [TESTS, '--proof', ...(bare ? [`--with=${bare}`] : [])] };
  const core = TOFU_CORE.filter((file) => bare === null || file.startsWith('test/proof/'));
  const onTofu = { name: 'tests on tofu', command: execPath, args: [TESTS, '--on-tofu', ...core] };
  return [
    // Each uses one processor, most of the time.
    [
      { name: 'types', command: join(BIN, 'tsc'), args: ['--noEmit'] },
      { name: 'types of the script', command: join(BIN, 'tsc'), args: ['--noEmit', '-p', 'src/faces/web/client'] },
      { name: 'lint', command: join(BIN, 'oxlint'), args: ['--type-aware', '--deny-warnings'] },
      { name: 'format', command: join(BIN, 'prettier'), args: ['--check', '--log-level', 'warn', '.'] },
    ],
    ...(bare === null ? [[tests]] : []),
    [proofs],
    // Where there is no terraform, all tests have run on tofu.
    ...(hasTerraform ? [[onTofu]] : []),
  ];
}

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

/** Runs a step, and says how it ended. */
async function isGreen(step: Step): Promise<boolean> {
  const startedMs = performance.now();
  const failure = await run(step);
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  if (failure === undefined) console.log(`ok: ${step.name} ${seconds} s`);
  else console.error(`not ok: ${step.name}, ${failure}, after ${seconds} s`);
  return failure === undefined;
}

const { values } = readArguments('npm run ok [-- [--bare LIST]]', { bare: { type: 'string' } });
for (const stage of stagesFor(values.bare ?? null)) {
  // Those that run beside one that failed end too, so that each says what it has found.
  const areGreen = await Promise.all(stage.map(isGreen));
  if (areGreen.includes(false)) process.exit(1);
}
