/**
 * `npm run simulate`: many simulated nights, each of one seed.
 *
 *     npm run simulate -- [--store sqlite|postgres] [--seed N] [--count N] [--hours H] [--daemons N] [--actions N]
 *         [--with AREA]... [--twice] [--stop] [--trace] [--covered] [--both] [--hide] [--shrink FILE]
 *     npm run simulate -- [--store sqlite|postgres] [--trace] FILE|FOLDER...
 *
 * A plan has some of the areas of `areas/areas.ts`, and those after `--with` always.
 * A seed that breaks a rule is named, with the line that runs it again; `--stop` ends with the first one. `--hide`
 * hides a row from the rules, so that each seed has to break one. `--shrink` cuts the plan of a failing seed down and
 * writes it; files are such plans. `--covered`, which long runs have, also wants each documented answer of each
 * modelled operation. `--both` runs the calls of each plan, one at a time and without faults, on both stores, which
 * must come to the same. Exit code 1 where a seed broke a rule or was not the same twice, 2 for a wrong option.
 */
import { tmpdir } from 'node:os';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readArguments, refuseArgument } from '../../scripts/arguments.ts';
import { registerSubstitutes } from './substitutes/hooks.ts';
import { replaceGlobals } from './world/current.ts';

const USAGE =
  'npm run simulate -- [--store sqlite|postgres] [--seed N] [--count N] [--hours H] [--daemons N] [--actions N] ' +
  '[--with AREA]... [--twice] [--stop] [--trace] [--covered] [--both] [--hide] [--shrink FILE] [FILE|FOLDER]...';
const { values, positionals } = readArguments(
  USAGE,
  {
    store: { type: 'string', default: 'sqlite' },
    seed: { type: 'string', default: '1' },
    count: { type: 'string', default: '20' },
    hours: { type: 'string' },
    daemons: { type: 'string', default: '2' },
    actions: { type: 'string', default: '30' },
    with: { type: 'string', multiple: true, default: [] as string[] },
    twice: { type: 'boolean', default: false },
    stop: { type: 'boolean', default: false },
    trace: { type: 'boolean', default: false },
    covered: { type: 'boolean', default: false },
    both: { type: 'boolean', default: false },
    hide: { type: 'boolean', default: false },
    shrink: { type: 'string' },
  },
  true,
);

registerSubstitutes();
replaceGlobals();
// What is loaded before the substitutes are registered would be the real one.
const { runSeeds } = await import('./seeds.ts');
const { runBoth } = await import('./both.ts');
const { runPlans, shrinkSeed } = await import('./plans.ts');
const { STORE_KINDS } = await import('./stores/store.ts');
const store =
  STORE_KINDS.find((kind) => kind === values.store) ?? refuseArgument('--store: expected sqlite or postgres.', USAGE);
const home = join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), `gatehouse-simulation-${process.pid}`);
const seed = number('seed', values.seed);
const { AREAS_BY_NAME } = await import('./areas/areas.ts');
const size = {
  daemons: number('daemons', values.daemons),
  actions: number('actions', values.actions),
  with: values.with,
};
const unknown = values.with.find((name) => !AREAS_BY_NAME.has(name));
if (unknown !== undefined) refuseArgument(`--with: there is no area ${unknown}.`, USAGE);
const { twice, stop, trace, hide, shrink, hours } = values;
/** A run of this size has to see each documented answer. */
const COVERED_SEEDS = 500;
process.exit((await run()) ? 0 : 1);

function run(): Promise<boolean> {
  if (positionals.length > 0) return runPlans({ store, home, trace }, positionals);
  if (values.both) return runBoth({ home, first: seed, count: number('count', values.count), actions: size.actions });
  if (shrink !== undefined) return shrinkSeed({ home, store, seed, ...size, hide, to: shrink });
  return runSeeds({
    home,
    store,
    first: seed,
    count: hours === undefined ? number('count', values.count) : Number.POSITIVE_INFINITY,
    limitMs: hours === undefined ? Number.POSITIVE_INFINITY : Number(hours) * 3_600_000,
    ...size,
    twice,
    stop,
    trace,
    covered: values.covered || (!stop && (hours !== undefined || number('count', values.count) >= COVERED_SEEDS)),
    hide,
  });
}

function number(name: string, text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 0) refuseArgument(`--${name}: expected a whole number.`, USAGE);
  return value;
}
