/**
 * `npm run fuzz`: property-based tests of every parser, for as long as one wants.
 *
 *     npm run fuzz [-- --seconds N] [--target NAME] [--seed S]
 *
 * The targets take turns. Without --seed the seed is random; it is printed, and with it and the name of a target a
 * failure is found again. Exit code 1 where something was found, 2 for a wrong option.
 */
import { randomInt } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { readArguments, refuseArgument, WrongArgument } from '../../../scripts/arguments.ts';
import type { FuzzFailure, FuzzTarget } from './target.ts';
import { FUZZ_TARGETS } from './targets.ts';

const USAGE = 'npm run fuzz [-- [--seconds N] [--target NAME]... [--seed S]]';
const SECONDS = 3_600;
/** A turn of one target. Short enough that a run that is ended early was at all of them. */
const TURN_MS = 10_000;
const SEED_MAX = 2 ** 31 - 1;
/** Seeds of the values of one turn follow one another; those of the next turn begin further away. */
const TURN_SEEDS = 1_000_003;

interface Tally {
  runs: number;
  failure: FuzzFailure | null;
}

function numberOf(name: string, text: string | undefined, standard: number): number {
  if (text === undefined) return standard;
  if (!/^\d{1,10}$/.test(text)) throw new WrongArgument(`--${name}: expected a number; got ${text}`);
  return Number(text);
}

function targetsOf(names: readonly string[]): readonly FuzzTarget[] {
  const unknown = names.find((name) => !FUZZ_TARGETS.some((target) => target.name === name));
  if (unknown !== undefined)
    throw new WrongArgument(
      `--target: there is no ${unknown}; expected one of ${FUZZ_TARGETS.map(({ name }) => name).join(', ')}`,
    );
  return names.length === 0 ? FUZZ_TARGETS : FUZZ_TARGETS.filter(({ name }) => names.includes(name));
}

/** Each target until its time is over, or until it has found something. */
async function fuzz(targets: readonly FuzzTarget[], seed: number, seconds: number): Promise<Map<FuzzTarget, Tally>> {
  const tallies = new Map(targets.map((target): [FuzzTarget, Tally] => [target, { runs: 0, failure: null }]));
  const ends = performance.now() + seconds * 1_000;
  const turnMs = Math.min(TURN_MS, (seconds * 1_000) / targets.length);
  for (let turn = 0; turn === 0 || performance.now() < ends; turn += 1) {
    const open = [...tallies].filter(([, { failure }]) => failure === null);
    if (open.length === 0) break;
    for (const [target, tally] of open) {
      if (turn > 0 && performance.now() >= ends) break;
      // Most targets never wait, and a daemon of another one would be ended after 5 minutes without a turn.
      await nextTurn();
      const { runs, failure } = await target.run((seed + turn * TURN_SEEDS) % SEED_MAX, turnMs);
      tally.runs += runs;
      tally.failure = failure;
      if (failure !== null)
        console.log(
          `\n${target.name} failed. npm run fuzz -- --target ${target.name} --seed ${failure.seed} --seconds ` +
            `1\n${failure.value}\n${failure.error}\n`,
        );
    }
  }
  return tallies;
}

async function fuzzAndClose(...of: Parameters<typeof fuzz>): ReturnType<typeof fuzz> {
  try {
    return await fuzz(...of);
  } finally {
    for (const target of of[0]) await target.close?.();
  }
}

async function main(): Promise<number> {
  const { values } = readArguments(USAGE, {
    seconds: { type: 'string' },
    target: { type: 'string', multiple: true },
    seed: { type: 'string' },
  });
  const targets = targetsOf(values.target ?? []);
  const seconds = numberOf('seconds', values.seconds, SECONDS);
  const seed = numberOf('seed', values.seed, randomInt(SEED_MAX));
  console.log(`Seed ${seed}, ${targets.length} targets, ${seconds} s.`);
  const tallies = await fuzzAndClose(targets, seed, seconds);
  for (const [{ name }, { runs, failure }] of tallies)
    console.log(
      `${name.padEnd(26)} ${String(runs).padStart(9)} values  ` +
        (failure === null ? 'nothing found' : `FAILED with seed ${failure.seed}`),
    );
  return [...tallies.values()].some(({ failure }) => failure !== null) ? 1 : 0;
}

try {
  process.exitCode = await main();
} catch (error) {
  if (error instanceof WrongArgument) refuseArgument(`${error.message}.`, USAGE);
  console.error(error);
  process.exitCode = 1;
}
