import type { Clock } from '../lib/clock.ts';
import { expireLoop, type ExpireDeps } from './approvals/expire.ts';
import { readFilesLoop, type ReadFilesDeps } from './approvals/read-files.ts';
import { checksLoop } from './checks/loop.ts';
import type { Sweep } from './checks/sweep.ts';
import { deadmanLoop, type DeadmanLoopDeps } from './deadman/deadman.ts';
import { endingsLoop } from './events/endings.ts';
import { outcomesLoop, type OutcomeDeps } from './events/job-outcome-events.ts';
import { rescueLoop, type RescueDeps } from './jobs/rescue.ts';
import { cancelLoop, claimLoop, type WorkLoopDeps } from './jobs/work-loops.ts';
import { type AdoptionDeps, adoptionLoop } from './maintenance/adoption.ts';
import { restartLoop, type RestartLoopDeps } from './maintenance/restart.ts';
import { type RetentionDeps, retentionLoop } from './maintenance/retention.ts';
import { storedTimesLoop, type StoredTimesLoopDeps } from './maintenance/stored-times.ts';
import { notificationLoop, type NotificationLoopDeps } from './notify/send.ts';
import { scheduleLoop, type ScheduleLoopDeps } from './schedules/schedule.ts';
import { type KeptInitsDeps, keptInitsLoop } from './workspaces/kept-inits.ts';
import { type RecountDeps, recountLoop } from './workspaces/recount.ts';
import { workflowsLoop, type NextStepsDeps } from './workflows/next-steps.ts';
import { watchCommits } from './core/commit-watch.ts';
import { type Loop, type LoopRow, startLoop, type WakeUp } from './core/loop.ts';
import { modesLoop, type ModesLoopDeps } from './core/mode-watch.ts';
import { presenceLoop, type PresenceDeps } from './core/presence.ts';
import type { Signals } from './core/signals.ts';

/** What the loops work with: each takes its part. */
export type LoopDeps = ExpireDeps &
  ReadFilesDeps &
  AdoptionDeps &
  PresenceDeps &
  RescueDeps &
  WorkLoopDeps &
  OutcomeDeps &
  DeadmanLoopDeps &
  NotificationLoopDeps &
  ModesLoopDeps &
  ScheduleLoopDeps &
  NextStepsDeps &
  RetentionDeps &
  StoredTimesLoopDeps &
  RecountDeps &
  KeptInitsDeps &
  RestartLoopDeps & {
    readonly sweep: Sweep;
    readonly clock: Clock;
    readonly signals: Signals;
    readonly wakeUp: (why: WakeUp) => void;
  };

/** Every loop of a daemon, in the order in which they start. */
export const LOOPS: readonly LoopRow<LoopDeps>[] = [
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

/** The loops of a running daemon. */
export class Loops {
  readonly #deps: LoopDeps;
  readonly #running: { readonly row: LoopRow<LoopDeps>; readonly loop: Loop }[] = [];
  /** Wakes the loops that rest without commits. */
  readonly #commits: Loop;

  constructor(deps: LoopDeps) {
    this.#deps = deps;
    const { clock, signals, store } = deps;
    const onError = (name: string, error: unknown): void => void signals.emit('loop:failed', { name, error });
    const onRecovered = (name: string): void => void signals.emit('loop:recovered', { name });
    const onDone = (name: string, did: Readonly<Record<string, number>>): void =>
      void signals.emit('loop:done', { name, did });
    const options = { clock, onError, onRecovered, onDone };
    for (const row of LOOPS) {
      if (row.runs?.(deps) === false) continue;
      const { name, restsWithoutCommits = false } = row;
      const everyMs = typeof row.everyMs === 'number' ? row.everyMs : row.everyMs(deps);
      const once = (signal: AbortSignal) => row.once(deps, signal);
      this.#running.push({ row, loop: startLoop({ ...options, name, everyMs, once, restsWithoutCommits }) });
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
        await row.settled?.(this.#deps);
      }),
    );
  }
}
