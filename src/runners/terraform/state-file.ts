import { STATE_MAX_BYTES } from '../../domain/workspaces/state.ts';
import type { State } from '../../domain/workspaces/workspace.ts';
import { pause, type Clock } from '../../lib/clock.ts';
import { readRunFile, versionOfRunFile } from '../run-files/run-files.ts';
import { readStateBytes } from './state/state-reader.ts';

/** Where terraform keeps the state of a root without a backend, below its folder. */
export const STATE_FILE = 'terraform.tfstate';
/** What terraform leaves behind when it could not write the state where it belongs. */
export const ERRORED_STATE_FILE = 'errored.tfstate';
/** How often a running apply's state is looked at, in milliseconds. */
const LOOK_EVERY_MS = 250;
/** Storing a large state takes time: the next check follows after this multiple of it. */
const REST_FACTOR = 10;

/** The folder of a root, below a run directory and without links. */
export interface StatePlace {
  readonly runDir: string;
  /** Relative to the run directory. */
  readonly folder: string;
}

/** The state in a folder of the run; null if none is whole. A job writes there: no part of the path may be a link. */
export async function readState({ runDir, folder }: StatePlace, name: string = STATE_FILE): Promise<State | null> {
  try {
    return await readStateBytes(await readRunFile(runDir, `${folder}/${name}`, STATE_MAX_BYTES));
  } catch {
    return null;
  }
}

/** Hands over the state of an apply at each change until `signal` aborts. Resolves after a first look. */
export async function watchState(
  place: StatePlace,
  clock: Clock,
  keep: (state: State) => Promise<void>,
  signal: AbortSignal,
): Promise<{ readonly ended: Promise<void> }> {
  let seen = await look(place);
  const watch = async (): Promise<void> => {
    let restMs = LOOK_EVERY_MS;
    while (await pause(clock, restMs, signal)) {
      const now = await look(place);
      if (now === seen) continue;
      const began = clock.monotonic();
      const state = await readState(place);
      // Half a file is another one when it is whole. What could not be kept is looked at again.
      const isDone =
        state === null ||
        (await keep(state).then(
          () => true,
          () => false,
        ));
      if (isDone) seen = now;
      restMs = Math.max(LOOK_EVERY_MS, (clock.monotonic() - began) * REST_FACTOR);
    }
  };
  return { ended: watch() };
}

/** Tells one version of the file from another. */
function look({ runDir, folder }: StatePlace): Promise<string> {
  return versionOfRunFile(runDir, `${folder}/${STATE_FILE}`);
}
