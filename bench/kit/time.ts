/** Milliseconds of the system's monotonic clock: the same in every process of the machine. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** Milliseconds since the epoch, with microseconds. */
export function wallMs(): number {
  return performance.timeOrigin + performance.now();
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Asks every `everyMs` until the answer is yes. Rejects after `limitMs`, naming what was waited for. */
export async function until(
  what: string,
  limitMs: number,
  everyMs: number,
  ask: () => boolean | Promise<boolean>,
): Promise<void> {
  const deadline = monotonicMs() + limitMs;
  while (!(await ask())) {
    if (monotonicMs() > deadline) throw new Error(`waited ${limitMs / 1000} s in vain: ${what}`);
    await sleep(everyMs);
  }
}
