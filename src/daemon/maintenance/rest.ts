import { type Clock, pause } from '../../lib/clock.ts';

/** Between two writes, in milliseconds, at the least and at the most. */
const PAUSE_MS = 20;
const PAUSE_MAX_MS = 500;
/** A slow disk or processor gets longer pauses: deleting takes a fifth of the time. */
const PAUSES_A_WRITE = 4;

/** Leaves the store to others, the longer the work since `beganAt` (monotonic) took. */
export async function rest(clock: Clock, beganAt: number, signal: AbortSignal | undefined): Promise<void> {
  const tookMs = clock.monotonic() - beganAt;
  await pause(clock, Math.min(PAUSE_MAX_MS, Math.max(PAUSE_MS, PAUSES_A_WRITE * tookMs)), signal);
}
