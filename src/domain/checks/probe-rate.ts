/** How many probes checks take, and how many they may take. Whole numbers: a sum does not depend on its order. */

/** Probes of a check in a thousand seconds. */
export function probesPer1000s(targets: number, intervalMs: number): number {
  return Math.round((targets * 1_000_000) / intervalMs);
}

/** Such a number as people read it: probes a second, with at most three decimals. */
export function showProbeRate(per1000s: number): string {
  return String(per1000s / 1_000);
}

export const PROBE_BUDGET = {
  /** About half of a core: 1,000 http probes a second take 24 % of one (bench/results.md). */
  perSecond: 2_000,
  /** More than any machine probes. */
  maxPerSecond: 1_000_000,
} as const;
