import { join } from 'node:path';
import type { Clock } from '../../lib/clock.ts';
import { ownCompileCacheDir } from './compile-cache.ts';
import { SandboxRefused } from './errors.ts';
import { LauncherProcess, type Launched, type LauncherOptions, type Waiting } from './launcher-process.ts';
import type { LaunchOrder } from './protocol.ts';

export interface LaunchRequest extends LaunchOrder {
  /** Runs while the launcher still waits: what it records is recorded before the tool does anything. May reject. */
  readonly beforeStart?: (leader: Waiting) => void | Promise<void>;
}

/** Whether sandboxed jobs can run here, for the doctor. */
interface SandboxSupport {
  readonly ok: boolean;
  /** The ABI of Landlock, 0 without it. */
  readonly abi: number;
  /** A sentence without its full stop. */
  readonly detail: string;
}

export interface LauncherPool {
  /**
   * Starts one tool. Rejects with SandboxRefused when there is no launcher for it, and with the error of `beforeStart`;
   * in both cases the tool never starts. `started` reports later faults.
   */
  launch(request: LaunchRequest): Promise<Launched>;
  supported(): Promise<SandboxSupport>;
  /** Ends the idle launchers and waits for them. Tools that run go on. */
  stop(): Promise<void>;
}

interface LauncherPoolOptions {
  readonly clock: Clock;
  /** Launchers kept waiting when nothing happens. */
  readonly warm?: number;
  /** Called when a spare launcher could not be started. */
  readonly onProblem?: (error: Error) => void;
  /** Where launchers keep compiled code; by default beside the daemon's own, null for nowhere. */
  readonly compileCacheDir?: string | null;
  /** For tests: another launcher program. */
  readonly program?: string;
}

const WARM_DEFAULT = 1;
/** Kept beyond `warm` after a burst: each is up to 39 MiB, and saves the next job of the burst some 40 ms. */
const BURST_EXTRA = 2;
const BURST_KEPT_MS = 5_000;
/** After a launcher failed, the next is not tried at once: the cause (memory, descriptors) is seldom gone by then. */
const RETRY_FIRST_MS = 500;
const RETRY_AT_MOST_MS = 30_000;
/** How long a dismissed launcher has to exit. */
const DISMISS_WITHIN_MS = 2_000;

/** The launcher program beside this file. */
const PROGRAM = join(import.meta.dirname, 'launcher.ts');

/** Launchers that wait, already started, for their job. Each serves one and is replaced in the background. */
export function createLauncherPool(options: LauncherPoolOptions): LauncherPool {
  const pool = new Pool(options);
  pool.refill();
  return { launch: (request) => pool.launch(request), supported: () => pool.supported(), stop: () => pool.stop() };
}

class Pool {
  readonly #clock: Clock;
  readonly #warm: number;
  readonly #onProblem: (error: Error) => void;
  readonly #launcher: LauncherOptions;
  readonly #idle: LauncherProcess[] = [];
  readonly #leaving = new Set<Promise<unknown>>();
  #busyUntil = Number.NEGATIVE_INFINITY;
  #retryMs = 0;
  #cancelTimer: (() => void) | null = null;
  #stopped = false;

  constructor(options: LauncherPoolOptions) {
    this.#clock = options.clock;
    this.#warm = options.warm ?? WARM_DEFAULT;
    this.#onProblem = options.onProblem ?? (() => {});
    const compileCacheDir = options.compileCacheDir === undefined ? ownCompileCacheDir() : options.compileCacheDir;
    this.#launcher = {
      clock: options.clock,
      program: options.program ?? PROGRAM,
      node: process.execPath,
      compileCacheDir,
    };
  }

  async launch(request: LaunchRequest): Promise<Launched> {
    if (this.#stopped) throw new SandboxRefused('The launchers have been stopped.');
    const waiting = this.#idle.shift();
    if (waiting === undefined) this.#busyUntil = this.#clock.monotonic() + BURST_KEPT_MS;
    const launcher = waiting ?? new LauncherProcess(this.#launcher);
    try {
      const launched = await launcher.give(request, async (leader) => request.beforeStart?.(leader));
      this.#retryMs = 0;
      // The next one is started when this tool runs, so that it does not compete with it for the processor.
      void Promise.race([launched.started.catch(() => {}), launched.exited]).then(() => this.refill());
      return launched;
    } catch (error) {
      this.refill();
      throw error;
    }
  }

  async supported(): Promise<SandboxSupport> {
    if (this.#stopped) return { ok: false, abi: 0, detail: 'the launchers have been stopped' };
    try {
      const launcher = this.#idle[0] ?? this.#add();
      const { abi, problem } = await launcher.ready;
      const detail = `Landlock ABI ${abi}, seccomp on ${process.arch}${openGaps(abi)}`;
      return { ok: problem === null, abi, detail: problem ?? detail };
    } catch (error) {
      return { ok: false, abi: 0, detail: error instanceof Error ? error.message : String(error) };
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancelTimer?.();
    for (const launcher of this.#idle.splice(0)) this.#dismiss(launcher);
    await Promise.all(this.#leaving);
  }

  /** Brings the number of waiting launchers to what it should be at this moment. */
  refill(): void {
    if (this.#stopped || this.#retryMs > 0) return;
    const left = this.#busyUntil - this.#clock.monotonic();
    const target = this.#warm + (left > 0 ? BURST_EXTRA : 0);
    while (this.#idle.length < target) this.#add();
    while (this.#idle.length > target) {
      const surplus = this.#idle.pop();
      if (surplus !== undefined) this.#dismiss(surplus);
    }
    if (left > 0) this.#later(left);
  }

  #add(): LauncherProcess {
    const launcher = new LauncherProcess(this.#launcher);
    this.#idle.push(launcher);
    const lost = (error: Error): void => {
      const at = this.#idle.indexOf(launcher);
      if (at < 0) return;
      this.#idle.splice(at, 1);
      this.#failed(error);
    };
    launcher.ready.then(() => (this.#retryMs = 0), lost);
    void launcher.exited.then(() => lost(new SandboxRefused('A waiting launcher ended.')));
    return launcher;
  }

  #failed(error: Error): void {
    this.#onProblem(error);
    const first = this.#retryMs === 0;
    this.#retryMs = first ? RETRY_FIRST_MS : Math.min(this.#retryMs * 2, RETRY_AT_MOST_MS);
    const next = this.#retryMs;
    this.#later(next);
  }

  #later(ms: number): void {
    this.#cancelTimer?.();
    if (this.#stopped) return;
    this.#cancelTimer = this.#clock.after(ms, () => {
      this.#cancelTimer = null;
      this.#retry();
    });
  }

  /** One launcher tries whether the trouble is over; `refill` follows when it is. */
  #retry(): void {
    if (this.#retryMs === 0) return this.refill();
    if (this.#stopped || this.#idle.length > 0) return;
    this.#add().ready.then(
      () => this.refill(),
      () => {},
    );
  }

  #dismiss(launcher: LauncherProcess): void {
    launcher.dismiss();
    const cancel = this.#clock.after(DISMISS_WITHIN_MS, () => launcher.kill());
    const left = launcher.exited.finally(() => {
      cancel();
      this.#leaving.delete(left);
    });
    this.#leaving.add(left);
  }
}

/** What an older kernel leaves open, for the doctor. */
function openGaps(abi: number): string {
  if (abi < 6) return '; signals and sockets to other processes of the same user are not restricted below ABI 6';
  if (abi < 9)
    return (
      '; below ABI 9 commands get no unix sockets, and plan, apply, destroy and drift reach every named one that ' +
      'their account may open (Docker, PostgreSQL with peer, systemd --user)'
    );
  return '';
}
