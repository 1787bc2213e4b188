/**
 * `npm run night`: what takes hours to prove, one part after another. A part that fails does not stop the others.
 *
 *     npm run night -- [--list] [PART...]
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { signalGroup } from '../src/lib/programs/process-group.ts';
import { readArguments, refuseArgument } from './arguments.ts';

const USAGE = 'npm run night [-- [--list] [PART]...]';
const ROOT = join(import.meta.dirname, '..');

interface Part {
  readonly name: string;
  readonly what: string;
  /** A script of package.json and its arguments. */
  readonly script: readonly [string, ...string[]];
  /** It is ended after this time. */
  readonly limitMs: number;
}

const HOUR_MS = 3_600_000;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

const PARTS: readonly Part[] = [
  {
    name: 'machines',
    what: 'set-up, demo and tests on bare Debian 12 and 13, plain and in a container',
    script: ['machines'],
    limitMs: 4 * HOUR_MS,
  },
  {
    name: 'kernels',
    what: 'the sandbox and the service under systemd on the kernel of Debian 12, in QEMU',
    script: ['kernels'],
    limitMs: 2 * HOUR_MS,
  },
  {
    name: 'upgrades',
    what: 'data of older builds under this one, and both at once',
    script: ['upgrades'],
    limitMs: HOUR_MS,
  },
  { name: 'chaos', what: 'kills of the daemon on both databases', script: ['chaos'], limitMs: 3 * HOUR_MS },
  {
    name: 'simulation',
    what: 'an hour of simulated nights of three daemons',
    script: ['simulate', '--hours', '1', '--daemons', '3'],
    limitMs: 2 * HOUR_MS,
  },
  {
    name: 'canaries',
    what: 'planted faults that the simulation has to find',
    script: ['canaries'],
    limitMs: 3 * HOUR_MS,
  },
  { name: 'clocks', what: 'jumps of the clock while jobs run and requests wait', script: ['clocks'], limitMs: HOUR_MS },
  { name: 'removal', what: 'the project without one of its areas', script: ['removal'], limitMs: 2 * HOUR_MS },
  { name: 'corpus', what: 'all hostile repositories', script: ['corpus'], limitMs: HOUR_MS },
  { name: 'fuzz', what: 'property-based tests of every parser for an hour', script: ['fuzz'], limitMs: 2 * HOUR_MS },
];

/** Between the request to end and the kill: a part ends what it has started. */
const STOP_GRACE_MS = 60_000;

/** Whether it ended well. It leads a process group, because npm does not pass on every signal. */
async function run({ script: [script, ...args], limitMs }: Part): Promise<boolean> {
  const child = spawn('npm', ['run', '--silent', script, ...(args.length > 0 ? ['--', ...args] : [])], {
    cwd: ROOT,
    stdio: ['ignore', 'inherit', 'inherit'],
    detached: true,
  });
  const kill = (): void => signalGroup(child.pid, 'SIGKILL');
  let grace: NodeJS.Timeout | undefined;
  const stop = (): void => {
    signalGroup(child.pid, 'SIGTERM');
    grace ??= setTimeout(kill, STOP_GRACE_MS);
  };
  const limit = setTimeout(stop, limitMs);
  for (const signal of SIGNALS) process.on(signal, stop);
  const failed = once(child, 'error').then(() => false);
  const ended = once(child, 'exit').then(([code]) => code === 0);
  const isGreen = await Promise.race([failed, ended]);
  clearTimeout(limit);
  clearTimeout(grace);
  for (const signal of SIGNALS) process.off(signal, stop);
  // npm may end before what it has started; the next part shares no machine with that.
  kill();
  return isGreen;
}

async function main(): Promise<number> {
  const { values, positionals: names } = readArguments(USAGE, { list: { type: 'boolean' } }, true);
  if (values.list === true) {
    for (const { name, what } of PARTS) console.log(`${name.padEnd(10)} ${what}`);
    return 0;
  }
  const unknown = names.find((each) => !PARTS.some(({ name }) => name === each));
  if (unknown !== undefined) refuseArgument(`There is no part ${unknown}: --list shows them.`, USAGE);
  const lines: string[] = [];
  let isInterrupted = false;
  for (const signal of SIGNALS) process.on(signal, () => (isInterrupted = true));
  for (const part of PARTS.filter(({ name }) => names.length === 0 || names.includes(name))) {
    if (isInterrupted) break;
    const beganMs = performance.now();
    const isGreen = await run(part);
    lines.push(`${isGreen ? 'ok' : 'not ok'}: ${part.name} ${Math.round((performance.now() - beganMs) / 1000)} s`);
    console.log(lines.at(-1));
  }
  console.log(`\n${lines.join('\n')}`);
  return isInterrupted || lines.some((line) => line.startsWith('not')) ? 1 : 0;
}

try {
  process.exitCode = await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 2;
}
