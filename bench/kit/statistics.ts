/** The value below which `share` (0 to 1) of the samples lie, by nearest rank. NaN without samples. */
export function percentile(samples: readonly number[], share: number): number {
  const sorted = Float64Array.from(samples).toSorted();
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

export function median(samples: readonly number[]): number {
  return percentile(samples, 0.5);
}

/**
 * Runs each measurement `rounds` times, in turn, and answers the median of each. In turn, because the machine's speed
 * drifts over seconds: what is divided by each other must have met the same weather.
 */
export async function inTurn<K extends string>(
  rounds: number,
  measurements: Readonly<Record<K, () => number | Promise<number>>>,
): Promise<Record<K, number>> {
  const names = Object.keys(measurements) as K[];
  const samples = new Map<K, number[]>(names.map((name) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const name of names) samples.get(name)?.push(await measurements[name]());
  }
  return Object.fromEntries(names.map((name) => [name, median(samples.get(name) ?? [])])) as Record<K, number>;
}
