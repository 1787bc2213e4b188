import { systemClock } from '../lib/clock.ts';
import { createLauncherPool } from '../runners/sandbox/pool.ts';

/** Asks one launcher what the kernel can enforce, without a daemon. */
export async function sandboxSupport(): Promise<{ ok: boolean; detail: string }> {
  const pool = createLauncherPool({ warm: 0, clock: systemClock, onProblem: () => undefined });
  try {
    const { ok, detail } = await pool.supported();
    return { ok, detail };
  } finally {
    await pool.stop();
  }
}
