import { running, theWorld } from '../world/current.ts';

/** The answer of `work`, which is done at once, at its own step. */
export async function stepped<T>(work: () => T): Promise<T> {
  try {
    return work();
  } finally {
    if (running() !== null) await theWorld().point('file');
  }
}
