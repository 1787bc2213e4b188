import type { Clock } from '../lib/clock.ts';
import { readCheckCa } from './ca-file.ts';
import type { ProbeDeps } from './deps.ts';

export interface Probes {
  /** Made when it is first needed. Throws Failure for a `--check-ca-file` that cannot be used. */
  deps(): Promise<ProbeDeps>;
  close(): Promise<void>;
}

/** `caFile` is that of `--check-ca-file`. */
export function createProbes(clock: Clock, caFile: string | null): Probes {
  let made: Promise<ProbeDeps> | null = null;
  // Few verbs of the command line probe.
  const load = async (): Promise<ProbeDeps> => {
    const [ca, { probeDeps }] = await Promise.all([readCheckCa(caFile), import('./deps.ts')]);
    return probeDeps({ clock, ca });
  };
  return {
    deps() {
      made ??= load();
      // The next caller reads a corrected file again.
      made.catch(() => (made = null));
      return made;
    },
    async close() {
      (await made?.catch(() => null))?.close();
    },
  };
}
