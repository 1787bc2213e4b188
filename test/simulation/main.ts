/**
 * `npm run simulate`: many simulated nights, each of one seed.
 *
 *     npm run simulate -- [--seed N] [--count N] [--hours H] [--daemons N] [--actions N]
 *         [--twice] [--stop] [--trace] [--hide]
 *
 * A seed that breaks a rule is named, with the line that runs it again; `--stop` ends with the first one. `--hide`
 * hides a row from the rules, so that each seed has to break one. Exit code 1 where a seed broke a rule or was not the
 * same twice, 2 for a wrong option.
 */
import { tmpdir } from 'node:os';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readArguments, refuseArgument } from '../../scripts/arguments.ts';
import { registerSubstitutes } from './substitutes/hooks.ts';
import { replaceGlobals } from './world/current.ts';

const USAGE =
  'npm run simulate -- [--seed N] [--count N] [--hours H] [--daemons N] [--actions N] ' +
  '[--twice] [--stop] [--trace] [--hide]';
const { values } = readArguments(USAGE, {
  seed: { type: 'string', default: '1' },
  count: { type: 'string', default: '20' },
  hours: { type: 'string' },
  daemons: { type: 'string', default: '2' },
  actions: { type: 'string', default: '30' },
  twice: { type: 'boolean', default: false },
  stop: { type: 'boolean', default: false },
  trace: { type: 'boolean', default: false },
  hide: { type: 'boolean', default: false },
});

registerSubstitutes();
replaceGlobals();
// What is loaded before the substitutes are registered would be the real one.
const { runSeeds } = await import('./seeds.ts');
const home = join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), `gatehouse-simulation-${process.pid}`);
const isGood = await runSeeds({
  home,
  first: number('seed', values.seed),
  count: values.hours === undefined ? number('count', values.count) : Number.POSITIVE_INFINITY,
  limitMs: values.hours === undefined ? Number.POSITIVE_INFINITY : Number(values.hours) * 3_600_000,
  daemons: number('daemons', values.daemons),
  actions: number('actions', values.actions),
  twice: values.twice,
  stop: values.stop,
  trace: values.trace,
  hide: values.hide,
});
process.exit(isGood ? 0 : 1);

function number(name: string, text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 0) refuseArgument(`--${name}: expected a whole number.`, USAGE);
  return value;
}
