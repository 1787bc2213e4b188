import { spawn, type ChildProcess } from 'node:child_process';
import { Socket } from 'node:net';
import { pause, type Clock } from '../../lib/clock.ts';
import { passingCapabilities } from '../account/capabilities.ts';
import { HELPER_NODE_OPTIONS } from './lean.ts';
import { ownCompileCacheDir } from './compile-cache.ts';
import type { LeaseTimes } from './lease-times.ts';
import type { GuardMessage, LeaseLimits, Watched } from './guard-protocol.ts';
import { programEntry } from '../../lib/files/program-files.ts';

/**
 * A small process that outlives the daemon, to end the trees of its jobs when it dies or when its lease runs out while
 * it can't act. Started for the first job, then kept; when it dies, it is restarted and receives its state again.
 */
export interface Guard {
  /** Starts the guard if it does not run. Rejects when it can't be started: then no job may start. */
  ready(): Promise<void>;
  /** From here on the tree is ended when the daemon is gone. Handed to the kernel before this returns. */
  watch(job: Watched): void;
  unwatch(jobId: string): void;
  /**
   * Until when the watched jobs may live, from now. Once called, it must be called again in time, or the file of the
   * limits must have later ones by then.
   */
  renew(limits: LeaseLimits): void;
  /** Ends the guard without ending any job. */
  stop(): Promise<void>;
}

interface GuardOptions {
  readonly clock: Clock;
  /** Called when the guard died or could not be started. */
  readonly onProblem?: (error: Error) => void;
  /** Where the guard keeps compiled code; by default beside the daemon's own, null for nowhere. */
  readonly compileCacheDir?: string | null;
}

/** An emulated or overloaded machine has taken 20 s for the start of a Node. */
const READY_WITHIN_MS = 60_000;
const RESTART_AFTER_MS = 500;
const STOP_WITHIN_MS = 2_000;

const PROGRAM = programEntry('runners/process/guard-child');

export function createGuard(options: GuardOptions): Guard {
  return new GuardKeeper(options);
}

interface GuardProcess {
  readonly child: ChildProcess;
  readonly control: Socket;
  readonly exited: Promise<void>;
}

class GuardKeeper implements Guard {
  readonly #clock: Clock;
  readonly #onProblem: (error: Error) => void;
  readonly #compileCacheDir: string | null;
  readonly #jobs = new Map<string, Watched>();
  #lease: (LeaseTimes & Pick<LeaseLimits, 'file'>) | null = null;
  #process: GuardProcess | null = null;
  #ready: Promise<void> | null = null;
  #stopped = false;
  /** Messages that may wait for the end of this turn, and are then one. */
  #unsent = '';

  constructor(options: GuardOptions) {
    this.#clock = options.clock;
    this.#onProblem = options.onProblem ?? (() => {});
    this.#compileCacheDir = options.compileCacheDir === undefined ? ownCompileCacheDir() : options.compileCacheDir;
  }

  ready(): Promise<void> {
    if (this.#stopped) return Promise.reject(new Error('the guard has been stopped'));
    if (this.#ready === null) {
      const starting = this.#start();
      this.#ready = starting;
      starting.catch(() => {
        if (this.#ready === starting) this.#ready = null;
      });
    }
    return this.#ready;
  }

  watch(job: Watched): void {
    this.#jobs.set(job.jobId, job);
    this.#tell({ watch: job });
  }

  unwatch(jobId: string): void {
    if (!this.#jobs.delete(jobId)) return;
    // Late, it ends a tree that has no process. Each separate message would wake the guard.
    if (this.#unsent === '') setImmediate(() => this.#send(''));
    this.#unsent += lineOf({ unwatch: jobId });
  }

  renew(limits: LeaseLimits): void {
    const now = this.#clock.monotonic();
    this.#lease = { termAt: now + limits.untilTermMs, killAt: now + limits.untilKillMs, file: limits.file };
    this.#tell({ renew: limits });
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    // A guard that is being started ends itself on this message.
    await this.#ready?.catch(() => {});
    const current = this.#process;
    if (current === null) return;
    current.child.ref();
    this.#tell({ stop: true });
    const cancel = this.#clock.after(STOP_WITHIN_MS, () => current.child.kill('SIGKILL'));
    await current.exited;
    cancel();
  }

  #tell(message: GuardMessage): void {
    this.#send(lineOf(message));
  }

  #send(lines: string): void {
    const all = this.#unsent + lines;
    this.#unsent = '';
    if (all !== '') this.#process?.control.write(all);
  }

  async #start(): Promise<void> {
    const started = spawnGuard(this.#compileCacheDir);
    const { child, control, exited } = started;
    const isReady = new Promise<boolean>((resolve) => {
      control.once('data', () => resolve(true));
      void exited.then(() => resolve(false));
    });
    const cancel = this.#clock.after(READY_WITHIN_MS, () => child.kill('SIGKILL'));
    const ok = await isReady;
    cancel();
    if (!ok) throw new Error('the guard process ended before it was ready');
    // The guard lives beside the daemon; it keeps no program alive that has nothing else to do.
    child.unref();
    control.unref();
    this.#process = started;
    this.#tellAgain();
    void exited.then(() => this.#lost(started));
  }

  #tellAgain(): void {
    if (this.#lease !== null) {
      const now = this.#clock.monotonic();
      const { termAt, killAt, file } = this.#lease;
      this.#tell({ renew: { untilTermMs: Math.max(0, termAt - now), untilKillMs: Math.max(0, killAt - now), file } });
    }
    for (const job of this.#jobs.values()) this.#tell({ watch: job });
  }

  async #lost(which: GuardProcess): Promise<void> {
    if (this.#process !== which) return;
    this.#process = null;
    this.#ready = null;
    if (this.#stopped) return;
    this.#onProblem(new Error('the guard process died; starting another'));
    for (;;) {
      try {
        return await this.ready();
      } catch (error) {
        this.#onProblem(error instanceof Error ? error : new Error(String(error)));
      }
      await pause(this.#clock, RESTART_AFTER_MS);
      if (this.#isStopped()) return;
    }
  }

  #isStopped(): boolean {
    return this.#stopped;
  }
}

function lineOf(message: GuardMessage): string {
  return `${JSON.stringify(message)}\n`;
}

/** In its own session, so that what ends the daemon's group does not end it too; with nothing of its environment. */
function spawnGuard(compileCacheDir: string | null): GuardProcess {
  // It ends processes of the account of jobs, and removes files of it.
  const child = passingCapabilities(() =>
    spawn(process.execPath, [...HELPER_NODE_OPTIONS, PROGRAM], {
      cwd: '/',
      detached: true,
      env: compileCacheDir === null ? {} : { NODE_COMPILE_CACHE: compileCacheDir },
      stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    }),
  );
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  const control: unknown = child.stdio?.[3];
  if (!(control instanceof Socket)) throw new Error('the guard process could not be started');
  control.on('error', () => {});
  return { child, control, exited };
}
