/** A target of the fuzz: values of one form, and what holds for each of them. */
import * as fc from 'fast-check';
import { Failure } from '../../../src/domain/failure.ts';
import { patient } from '../../support/measure/slowness.ts';
import { threadCpuMs } from '../../support/measure/loop-spans.ts';

/**
 * What a check may take, in milliseconds of processor time: so much, and so much more for each character of the value.
 */
export interface TimeBound {
  readonly baseMs: number;
  readonly perCharacterMs: number;
}

/** A linear parser takes 0.1 µs for a character; one that is quadratic takes seconds for the longest values. */
const STANDARD: TimeBound = { baseMs: 50, perCharacterMs: 0.002 };
/** Measurements of a value that took too long: the least time is its own, the rest is the machine's. */
const MEASUREMENTS = 6;
/** Values of one round. After each round it is looked whether time is left. */
const ROUND_RUNS = 40;
/** To find a shorter value that fails, at most so long. */
const SHRINK_MS = 20_000;

export interface FuzzFailure {
  /** With it `--seed` and `--target` find the same value again. */
  readonly seed: number;
  readonly value: string;
  readonly error: string;
}

export interface FuzzOutcome {
  readonly runs: number;
  readonly failure: FuzzFailure | null;
}

export interface FuzzTarget {
  readonly name: string;
  /** Tries values until `ms` milliseconds have passed, or one fails. */
  run(seed: number, ms: number): Promise<FuzzOutcome>;
  /** Ends what its runs share. */
  close?(): Promise<void>;
}

export function fuzzTarget<T>(
  name: string,
  values: fc.Arbitrary<T>,
  check: (value: T) => void | Promise<void>,
  bound: TimeBound = STANDARD,
  roundRuns = ROUND_RUNS,
): FuzzTarget {
  const property = fc.asyncProperty(values, (value) => checkInTime(value, check, bound));
  return {
    name,
    async run(seed, ms) {
      const ends = performance.now() + ms;
      let runs = 0;
      for (let round = 0; round === 0 || performance.now() < ends; round += 1) {
        const at = seed + round;
        const result = await fc.check(property, {
          seed: at,
          numRuns: roundRuns,
          interruptAfterTimeLimit: ms + SHRINK_MS,
          endOnFailure: false,
        });
        runs += result.numRuns;
        if (result.failed && result.counterexample !== null)
          return {
            runs,
            failure: { seed: at, value: fc.stringify(result.counterexample[0]), error: textOf(result.errorInstance) },
          };
      }
      return { runs, failure: null };
    },
  };
}

async function checkInTime<T>(value: T, check: (value: T) => void | Promise<void>, bound: TimeBound): Promise<void> {
  const mayTake = patient(bound.baseMs + bound.perCharacterMs * sizeOf(value));
  let least = Number.POSITIVE_INFINITY;
  for (let n = 0; n < MEASUREMENTS && least > mayTake; n += 1) {
    const began = threadCpuMs();
    await check(value);
    least = Math.min(least, threadCpuMs() - began);
  }
  if (least > mayTake)
    throw new Error(
      `took ${least.toFixed(0)} ms; expected at most ${mayTake.toFixed(0)} ms for ${sizeOf(value)} characters`,
    );
}

/** Characters and bytes in it. */
function sizeOf(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (value instanceof Uint8Array) return value.length;
  if (typeof value !== 'object' || value === null) return 1;
  return Object.entries(value).reduce((sum, [key, each]) => sum + key.length + sizeOf(each), 0);
}

function textOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

type ErrorClass = abstract new (...parts: never[]) => Error;

/**
 * What `attempt` gives; undefined where it refuses as the program refuses: with a Failure, or one of these classes.
 * Throws all else.
 */
export async function unlessRefused<T>(
  attempt: () => T | Promise<T>,
  ...classes: readonly ErrorClass[]
): Promise<T | undefined> {
  try {
    return await attempt();
  } catch (error) {
    if ([Failure, ...classes].some((each) => error instanceof each)) return undefined;
    throw error;
  }
}
