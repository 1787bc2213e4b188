/** The passes of a daemon of this process, made by hand: its loops make none by themselves. */
import type { LoopRow, MakeLoop } from '../../../../src/daemon/core/loop.ts';
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

/** What the loops of the daemon that was started last do in a pass. */
const held: Pick<LoopRow, 'name' | 'once'>[] = [];
let latest: LoopDeps | undefined;
let isHeld = false;

/** From now on the loops of all daemons of this process do nothing by themselves. */
function hold(): void {
  held.length = 0;
  if (isHeld) return;
  isHeld = true;
  const rows: MakeLoop<LoopDeps, LoopRow | null>[] = LOOPS;
  for (const [index, make] of rows.entries())
    rows[index] = (deps) => {
      latest = deps;
      const row = make(deps);
      if (row === null) return null;
      held.push({ name: row.name, once: row.once });
      return { ...row, once: () => Promise.resolve() };
    };
}

/** Of the daemon that `start` starts. */
export async function passesOf(start: () => Promise<unknown>): Promise<Passes> {
  hold();
  await start();
  const deps = latest;
  if (deps === undefined) throw new Error('the daemon has no loops');
  const { signal } = new AbortController();
  const rows = [...held];
  return {
    deps,
    async all() {
      const failed: FailedPass[] = [];
      for (const { name, once } of rows) {
        try {
          await once(signal);
        } catch (error) {
          failed.push({ name, error });
        }
      }
      return failed;
    },
  };
}
