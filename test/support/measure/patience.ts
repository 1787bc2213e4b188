/**
 * Time limits on the machine at hand. `npm test` compares it with a quick one before it starts (scripts/patience.ts);
 * a limit ends what hangs, and measures nothing.
 */

/** How many times as long as on a quick machine the limits are. */
export const PATIENCE = Number(process.env['GATEHOUSE_TEST_PATIENCE'] ?? 1);

/** Tests on an emulated processor set this or more. */
export const EMULATED = 10;

/** The limit of a quick machine, in milliseconds, as one of this machine. */
export function patient(limitMs: number): number {
  return limitMs * PATIENCE;
}
