/** Chance that can be repeated: the same seed gives the same numbers. */
export interface Seeded {
  readonly seed: number;
  /** From 0 up to, not including, 1. */
  readonly next: () => number;
  /** A whole number from `min` to `max`. */
  readonly whole: (min: number, max: number) => number;
  readonly pick: <T>(from: readonly T[]) => T;
}

/** CHAOS_SEED repeats a run's decisions; the machine's own timing stays its own. */
export function chosenSeed(): number {
  const given = Number(process.env['CHAOS_SEED'] ?? Number.NaN);
  return Number.isInteger(given) ? given : Math.floor(Math.random() * 2 ** 31);
}

/** The generator "mulberry32": 32 bits of state, and good enough to choose moments. */
export function seeded(seed: number): Seeded {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    seed,
    next,
    whole: (min, max) => min + Math.floor(next() * (max - min + 1)),
    pick(from) {
      const one = from[Math.floor(next() * from.length)];
      if (one === undefined) throw new Error('nothing to pick from');
      return one;
    },
  };
}
