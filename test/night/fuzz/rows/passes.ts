/** The passes of a daemon of this process, made by hand: its loops make none by themselves. */
import { LOOPS, type LoopDeps } from '../../../../src/daemon/loops.ts';

export interface FailedPass {
  readonly name: string;
  readonly error: unknown;
}

export interface Passes {
  readonly deps: LoopDeps;
  /** One pass of each loop, in their order. Answers those that failed. */
  all(): Promise<FailedPass[]>;
}

type Held = Pick<(typeof LOOPS)[number], 'name' | 'once' | 'runs'>;

let rowsHeld: readonly Held[] | undefined;
let latest: LoopDeps | undefined;

/** From now on, for all daemons of this process. */
function hold(): readonly Held[] {
  rowsHeld ??= LOOPS.map((row) => {
    const { name, once, runs } = row;
    Object.assign(row, {
      once: async (deps: LoopDeps) => {
        latest = deps;
      },
    });
    return { name, once, ...(runs === undefined ? {} : { runs }) };
  });
  return rowsHeld;
}

/** Of the daemon that `start` starts. */
export async function passesOf(start: () => Promise<unknown>): Promise<Passes> {
  const held = hold();
  await start();
  const deps = latest;
  if (deps === undefined) throw new Error('the daemon has no loops');
  const { signal } = new AbortController();
  const rows = held.filter(({ runs }) => runs?.(deps) !== false);
  return {
    deps,
    async all() {
      const failed: FailedPass[] = [];
      for (const { name, once } of rows) {
        try {
          await once(deps, signal);
        } catch (error) {
          failed.push({ name, error });
        }
      }
      return failed;
    },
  };
}
