import { subjectOf } from '../../domain/events/causes.ts';
import { handCauses } from '../../store/events/causes.ts';
import { formatDuration } from '../../domain/duration.ts';
import { join } from 'node:path';
import type { ProgramFiles } from '../../domain/program.ts';
import { Failure } from '../../domain/failure.ts';
import { pause, type Clock } from '../../lib/clock.ts';
import { requestCancel } from '../../store/jobs/jobs.ts';
import { listRunning } from '../../store/maintenance/nodes.ts';
import { moveRestart, OPEN_RESTARTS, recordDigest, restartOf } from '../../store/maintenance/restarts.ts';
import { pending, SchemaMismatch } from '../../store/engine/migrate.ts';
import { readMigrations } from '../../store/engine/migration.ts';
import { holdCordon } from '../../store/maintenance/cordon.ts';
import type { RestartRow } from '../../store/schema/schema.ts';
import type { Store } from '../../store/store.ts';
import type { MakeLoop, WakeUp } from '../core/loop.ts';
import type { Reload } from '../../operations/maintenance/services.ts';
import { recordMove } from '../jobs/job-transitions.ts';
import { reloadIfRequested } from './reload.ts';

/** What a daemon restarts in place with. */
export interface Restarting {
  readonly program: ProgramFiles;
  /** This daemon is the new program of a restart. */
  readonly follows: boolean;
  /** How long it waits for its jobs. */
  readonly drainMs: number;
  /** Of the program's files as they are now. Throws `conflict` where they must not be started. */
  digest(signal: AbortSignal): Promise<string>;
  /** Starts the program on disk to see whether it works: null, or why it does not. */
  tryProgram(isNewer: boolean, signal: AbortSignal): Promise<string | null>;
  /** Ends this daemon in order, and starts the program in its process. May be called twice. */
  execute(): void;
}

export interface RestartLoopDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly self: () => string;
  readonly node: () => string;
  readonly restarting: Restarting;
  readonly running: RunningDigest;
  /** Reads the settings again. Throws invalid_argument. */
  readonly readSettings: () => Promise<Reload>;
  readonly wakeUp: (why: WakeUp) => void;
}

/** A start has better things to do than to read all files of the program. */
const DIGEST_AFTER_MS = 2_000;
/** Fallback where no wake-up arrives. */
const LOOK_EVERY_MS = 1_000;
const NO_DIGEST = '';
/** A forced restart waits at least this long for the jobs that it has cancelled. */
const FORCED_MS = 60_000;

/** The digest of the files that the daemon was started from: later they may be others. */
export class RunningDigest {
  #digest: string | null = null;

  /** `isAwaited`: it tells whether the new program of a restart runs now. */
  async record(
    { store, clock, self, restarting }: RestartLoopDeps,
    isAwaited: boolean,
    signal: AbortSignal,
  ): Promise<void> {
    if (this.#digest === null) {
      if (!isAwaited && !(await pause(clock, DIGEST_AFTER_MS, signal))) return;
      // Files that must not be started were started: any later ones are other ones.
      this.#digest = (await orRefused(restarting.digest(signal))) ?? NO_DIGEST;
    }
    const digest = this.#digest;
    await store.write((tx) => recordDigest(tx, self(), digest));
  }
}

/** The digest, or null for a program that must not be started. */
async function orRefused(digest: Promise<string>): Promise<string | null> {
  try {
    return await digest;
  } catch (error) {
    if (error instanceof Failure) return null;
    throw error;
  }
}

/** Records once what runs, and carries out what others request of this daemon by its row. */
export const restartLoop: MakeLoop<RestartLoopDeps> = (deps) => ({
  name: 'restart',
  everyMs: LOOK_EVERY_MS,
  wakeOn: ['after-request', 'slot-free'],
  restsWithoutCommits: true,
  async once(signal) {
    const row = await restartOf(deps.store.db, deps.node());
    if (row?.daemon_id !== deps.self()) return;
    await reloadIfRequested(deps, row);
    // Without it, a restart could not tell whether the program on disk is another one.
    if (row.digest === null) await deps.running.record(deps, row.state === 'executing', signal);
    else if (OPEN_RESTARTS.includes(row.state)) await new Restart(deps, row, signal).step();
    // The next step may be due already, and a drain has a deadline.
    if (row.digest === null || row.state === 'requested') return { dueMs: 0 };
    return OPEN_RESTARTS.includes(row.state) ? { dueMs: LOOK_EVERY_MS } : {};
  },
});

class Restart {
  readonly #deps: RestartLoopDeps;
  readonly #row: RestartRow;
  readonly #signal: AbortSignal;

  constructor(deps: RestartLoopDeps, row: RestartRow, signal: AbortSignal) {
    this.#deps = deps;
    this.#row = row;
    this.#signal = signal;
  }

  async step(): Promise<void> {
    if (this.#row.state === 'requested') await this.#try();
    else if (this.#row.state === 'draining') await this.#drain();
    else this.#deps.restarting.execute();
  }

  /** Tries the program on disk while this one works on, and then stops claiming. */
  async #try(): Promise<void> {
    const { restarting, clock } = this.#deps;
    const [digest, problem] = await this.#tried();
    if (this.#signal.aborted) return;
    if (problem !== null) return this.#abort(`the new program was not started: ${problem}`);
    const deadline = clock.now() + restarting.drainMs;
    await this.#move('draining', { cordoned: 1, drain_deadline: deadline, wanted_digest: digest });
  }

  /** The digest of the program, and why it is not to be started. */
  async #tried(): Promise<readonly [string, string | null]> {
    const { store, restarting } = this.#deps;
    try {
      const digest = await restarting.digest(this.#signal);
      if (digest === this.#row.digest) return [digest, 'the program on disk is the one that runs'];
      const known = readMigrations(join(restarting.program.root, 'migrations', store.dialect.name));
      const missing = await pending(store.db, known, 'migrate');
      return [digest, await restarting.tryProgram(missing.length > 0, this.#signal)];
    } catch (error) {
      if (error instanceof Failure || error instanceof SchemaMismatch) return ['', error.message];
      // The loop logs it; without an end the next pass would try again for ever.
      if (!this.#signal.aborted) await this.#abort('the new program could not be tried; see the log');
      throw error;
    }
  }

  async #drain(): Promise<void> {
    const { store, clock, restarting, node } = this.#deps;
    const { forced, drain_deadline: until } = this.#row;
    const running = await listRunning(store.db, node());
    if (running.length === 0) return this.#execute();
    if (forced === 1) await this.#cancelAll(running.map(({ id }) => id));
    const late = (until ?? 0) + (forced === 1 ? FORCED_MS : 0);
    if (clock.now() < late) return;
    const jobs = running.length === 1 ? '1 job still runs' : `${running.length} jobs still run`;
    await this.#abort(
      `${jobs} after the ${formatDuration(restarting.drainMs)} of --drain-timeout; nothing was cancelled`,
    );
  }

  async #cancelAll(ids: readonly string[]): Promise<void> {
    const { store, self, node, wakeUp } = this.#deps;
    const reason = `cancelled by the forced restart of ${node()}`;
    await store.write(async (tx) => {
      for (const id of ids)
        if (await requestCancel(tx, id, reason)) {
          await handCauses(tx, [subjectOf('node', node())], subjectOf('job', id));
          recordMove(tx, self(), 'job.cancel', id, { by: 'maintenance.restart' });
        }
    });
    wakeUp('request');
  }

  /** No job runs, and none can start: the files are looked at for the last time. */
  async #execute(): Promise<void> {
    const { restarting, clock } = this.#deps;
    const digest = await orRefused(restarting.digest(this.#signal));
    if (digest !== this.#row.wanted_digest) return this.#abort('the program on disk has changed since it was tried');
    if (await this.#move('executing', { finished_at: clock.now() })) restarting.execute();
  }

  async #abort(reason: string): Promise<void> {
    await this.#move('aborted', { cordoned: 0, reason, finished_at: this.#deps.clock.now() });
    this.#deps.wakeUp('request');
  }

  /** False where somebody has lifted the cordon in the meantime. */
  #move(to: RestartRow['state'], more: Partial<RestartRow>): Promise<boolean> {
    const { store, self, node } = this.#deps;
    return store.write(async (tx) => {
      await holdCordon(tx);
      if (!(await moveRestart(tx, self(), this.#row.state, { state: to, ...more }))) return false;
      const { reason = null } = more;
      recordMove(tx, self(), 'maintenance.restart', node(), reason === null ? { state: to } : { state: to, reason });
      return true;
    });
  }
}
