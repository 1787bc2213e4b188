import { running, theWorld } from '../world/current.ts';

/** The answer of `work`, which is done at once, at its own step. What is left of a killed daemon does nothing. */
export async function stepped<T>(work: () => T): Promise<T> {
  const who = running();
  if (who !== null && !theWorld().lives(who)) return new Promise(() => undefined);
  try {
    return work();
  } finally {
    if (who !== null) await theWorld().point('file');
  }
}
