import type { Clock } from '../lib/clock.ts';
import type { Store } from '../store/store.ts';
import { expireLoop } from './approvals/expire.ts';
import { readFilesLoop } from './approvals/read-files.ts';
import { checksLoop } from './checks/loop.ts';
import { deadmanLoop } from './deadman/deadman.ts';
import { endingsLoop } from './events/endings.ts';
import { outcomesLoop } from './events/job-outcome-events.ts';
import { rescueLoop } from './jobs/rescue.ts';
import { cancelLoop, claimLoop } from './jobs/work-loops.ts';
import { adoptionLoop } from './maintenance/adoption.ts';
import { restartLoop } from './maintenance/restart.ts';
import { retentionLoop } from './maintenance/retention.ts';
import { storedTimesLoop } from './maintenance/stored-times.ts';
import { notificationLoop } from './notify/send.ts';
import { scheduleLoop } from './schedules/schedule.ts';
import { keptInitsLoop } from './workspaces/kept-inits.ts';
import { recountLoop } from './workspaces/recount.ts';
import { workflowsLoop } from './workflows/next-steps.ts';
import { watchCommits } from './core/commit-watch.ts';
import { type Loop, type LoopRow, startLoop, type WakeUp } from './core/loop.ts';
import { modesLoop } from './core/mode-watch.ts';
import { presenceLoop } from './core/presence.ts';
import type { Signals } from './core/signals.ts';

/** Every loop of a daemon, in the order in which they start. */
export const LOOPS = [
  storedTimesLoop,
  expireLoop,
  presenceLoop,
  rescueLoop,
  claimLoop,
  cancelLoop,
  readFilesLoop,
  outcomesLoop,
  workflowsLoop,
  endingsLoop,
  notificationLoop,
  deadmanLoop,
  scheduleLoop,
  checksLoop,
  retentionLoop,
  recountLoop,
  keptInitsLoop,
  modesLoop,
  restartLoop,
  adoptionLoop,
];

/** What the loops work with: each takes its part. */
export type LoopDeps = (typeof LOOPS)[number] extends (deps: infer Deps) => LoopRow | null ? Deps : never;

interface LoopsDeps {
  readonly store: Pick<Store, 'version'>;
  readonly clock: Clock;
  readonly signals: Signals;
}

/** The loops of a running daemon. */
export class Loops {
  readonly #running: { readonly row: LoopRow; readonly loop: Loop }[] = [];
  /** Wakes the loops that rest without commits. */
  readonly #commits: Loop;

  constructor(deps: LoopDeps & LoopsDeps) {
    const { clock, signals, store } = deps;
    const onError = (name: string, error: unknown): void => void signals.emit('loop:failed', { name, error });
    const onRecovered = (name: string): void => void signals.emit('loop:recovered', { name });
    const onDone = (name: string, did: Readonly<Record<string, number>>): void =>
      void signals.emit('loop:done', { name, did });
    const options = { clock, onError, onRecovered, onDone };
    for (const make of LOOPS) {
      const row = make(deps);
      if (row !== null) this.#running.push({ row, loop: startLoop({ ...row, ...options }) });
    }
    const resting = this.#running.filter(({ row }) => row.restsWithoutCommits === true);
    this.#commits = watchCommits(
      () => store.version(),
      resting.map(({ loop }) => loop),
      options,
    );
  }

  wake(why: WakeUp): void {
    for (const { row, loop } of this.#running) if (row.wakeOn.includes(why)) loop.wake();
  }

  async stop(): Promise<void> {
    await this.#commits.stop();
    await Promise.all(
      this.#running.map(async ({ row, loop }) => {
        await loop.stop();
        await row.settled?.();
      }),
    );
  }
}
