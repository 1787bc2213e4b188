/** What this process holds in memory. How much garbage waits for a collection depends on the load of the machine. */

const BYTES_PER_MIB = 1_048_576;

/** Collects the garbage first, with what scripts/tests/lane.ts exposes for this. */
export function heldMib(): number {
  if (globalThis.gc === undefined) throw new Error('run this with npm test, or with node --expose-gc');
  globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / BYTES_PER_MIB;
}
