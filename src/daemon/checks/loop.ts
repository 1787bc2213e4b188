import type { MakeLoop } from '../core/loop.ts';
import type { Sweep } from './sweep.ts';

/** How often changes of checks are looked for without a wake-up, and observations written, in milliseconds. */
const CHECKS_EVERY_MS = 1_000;

/** Follows the checks in the store. Probes begin at their own times. */
export const checksLoop: MakeLoop<{ readonly sweep: Sweep }> = ({ sweep }) => ({
  name: 'checks',
  everyMs: CHECKS_EVERY_MS,
  wakeOn: ['after-request'],
  restsWithoutCommits: true,
  once: async (signal) => ((await sweep.pass(signal)) ? { dueMs: CHECKS_EVERY_MS } : {}),
  settled: () => sweep.stop(),
});
