import type { Clock } from '../lib/clock.ts';
import { readCheckCa } from './ca-file.ts';
import type { ProbeDeps } from './deps.ts';

export interface Probes {
  /** Made when it is first needed. Throws Failure for a `--check-ca-file` that cannot be used. */
  deps(): Promise<ProbeDeps>;
  close(): Promise<void>;
}

interface ProbeSettings {
  readonly checkCaFile: string | null;
  readonly checkRefuseOwn: boolean;
}

export function createProbes(clock: Clock, { checkCaFile, checkRefuseOwn }: ProbeSettings): Probes {
  let made: Promise<ProbeDeps> | null = null;
  // Few verbs of the command line probe.
  const load = async (): Promise<ProbeDeps> => {
    const [ca, { probeDeps }] = await Promise.all([readCheckCa(checkCaFile), import('./deps.ts')]);
    return probeDeps({ clock, ca, refuseOwn: checkRefuseOwn });
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
