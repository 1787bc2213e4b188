import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, constants, openSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { pause, type Clock } from '../../lib/clock.ts';
import { launchError, SandboxRefused } from './errors.ts';
import { HELPER_NODE_OPTIONS } from './lean.ts';
import type { LaunchOrder, LauncherReady, LauncherReport } from './protocol.ts';
import { ORDER_MAX_BYTES, parseReport } from './protocol.ts';

/** The process that a tool is: the pid together with its start names it for ever. */
interface Leader {
  readonly pid: number;
  /** Ticks since boot, field 22 of /proc/<pid>/stat; 0 where there is no /proc. */
  readonly startTicks: number;
}

/** A launcher that waits to become the tool. */
export interface Waiting extends Leader {
  /** The read ends of the tool's output, as descriptors of this process, until it is the tool; null without any. */
  readonly output: LauncherReady['output'];
}

export interface Exit {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
}

interface Output {
  readonly stdout: Readable;
  readonly stderr: Readable;
}

/** A tool that has been ordered. Read `stdout` and `stderr` from the first turn on: they are pipes of limited size. */
export interface Launched extends Leader, Output {
  /** Fulfilled when the tool has taken the launcher's place; rejects with a LaunchError when it never will. */
  readonly started: Promise<void>;
  /** The end of the process, also when the tool never started. Its output may end later. */
  readonly exited: Promise<Exit>;
}

export interface LauncherOptions {
  readonly clock: Clock;
  /** The launcher program. */
  readonly program: string;
  /** The Node to run it with. */
  readonly node: string;
  readonly compileCacheDir: string | null;
}

/** A cold start takes 30 to 150 ms; a machine that needs longer than this is not going to make it. */
const READY_WITHIN_MS = 15_000;
/** What a launcher may say; an error message is short. */
const REPORT_MAX_BYTES = 64 * 1024;
/** How much of what a launcher writes to its standard error before its order is kept for the error message. */
const DIAGNOSIS_MAX_BYTES = 2_000;
/** The end of the process and of its connection come in any order, a few microseconds apart. */
const REPORT_WITHIN_MS = 1_000;

/** One launcher: started, then ready, then given one order, then it is the tool. */
export class LauncherProcess {
  readonly ready: Promise<LauncherReady>;
  readonly exited: Promise<Exit>;
  readonly #clock: Clock;
  /** Null when it could not even be spawned. */
  readonly #child: ChildProcess | null;
  readonly #control: Socket | null;
  #reports: LauncherReport[] = [];
  #diagnosis = '';
  #onReport: () => void = () => {};
  #ended = false;
  #ownPipes = false;
  /** Somebody waits for its order or for its end. */
  #awaited = false;

  constructor(options: LauncherOptions) {
    this.#clock = options.clock;
    this.#child = this.#spawn(options);
    this.exited = new Promise((resolve) => {
      const nothing = { exitCode: null, signal: null };
      if (this.#child === null) return resolve(nothing);
      this.#child.once('exit', (exitCode, signal) => resolve({ exitCode, signal }));
      this.#child.once('error', (error) => {
        this.#diagnosis = error.message;
        if (this.#child?.pid === undefined) resolve(nothing);
      });
    });
    const control: unknown = this.#child?.stdio?.[3];
    this.#control = control instanceof Socket ? control : null;
    this.#listen();
    this.ready = this.#awaitReady();
    // An idle launcher keeps no program alive that has nothing else to do; one that is waited for does.
    this.ready.then(() => this.#keepAlive(this.#awaited)).catch(() => {});
  }

  /**
   * In its own session, so that a signal to the daemon's group does not reach it and its group can be ended as a whole.
   * With nothing of the daemon's environment: NODE_OPTIONS there would change what runs before the sandbox is up.
   */
  #spawn({ node, program, compileCacheDir }: LauncherOptions): ChildProcess | null {
    try {
      return spawn(node, [...HELPER_NODE_OPTIONS, program], {
        cwd: '/',
        detached: true,
        env: compileCacheDir === null ? {} : { NODE_COMPILE_CACHE: compileCacheDir },
        stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
      });
    } catch (error) {
      this.#diagnosis = error instanceof Error ? error.message : String(error);
      return null;
    }
  }

  /**
   * Gives the order. `beforeStart` runs while the launcher still waits; when it rejects, the tool never starts.
   * Rejects, with the launcher ended, when the order can't be given.
   */
  async give(order: LaunchOrder, beforeStart: (leader: Waiting) => Promise<void>): Promise<Launched> {
    let opened: Output | null = null;
    this.#awaited = true;
    this.#keepAlive(true);
    try {
      const text = encodeOrder(order);
      const { startTicks, output } = await this.ready;
      const pid = this.#child?.pid;
      if (pid === undefined || this.#control === null) throw new SandboxRefused('The launcher has no process.');
      opened = this.#openOutput(pid, output);
      await beforeStart({ pid, startTicks, output });
      this.#control.write(text);
      const started = this.#awaitStart();
      started.catch(() => {});
      return { pid, startTicks, ...opened, started, exited: this.exited };
    } catch (error) {
      this.kill();
      opened?.stdout.destroy();
      opened?.stderr.destroy();
      throw error;
    }
  }

  /** Ends a launcher that has no order, by ending its connection; it exits by itself. */
  dismiss(): void {
    this.#awaited = true;
    this.#keepAlive(true);
    this.#control?.end();
  }

  kill(): void {
    this.#child?.kill('SIGKILL');
  }

  #listen(): void {
    this.#child?.stderr?.on('data', (chunk: Buffer) => {
      if (this.#diagnosis.length < DIAGNOSIS_MAX_BYTES) this.#diagnosis += chunk.toString('latin1');
    });
    // A broken connection counts as an end, which waiting callers observe there.
    for (const stream of [this.#child?.stdout, this.#child?.stderr, this.#control]) stream?.on('error', () => {});
    let line = '';
    this.#control?.on('data', (chunk: Buffer) => {
      line += chunk.toString('utf8');
      const lines = line.split('\n');
      line = lines.pop() ?? '';
      if (line.length > REPORT_MAX_BYTES) this.kill();
      this.#take(lines);
    });
    const end = (): void => {
      this.#ended = true;
      this.#onReport();
    };
    this.#control?.once('close', end);
    // Without a connection, or when something else holds it open, the end of the process is the end.
    void this.exited.then(() => pause(this.#clock, this.#control === null ? 0 : REPORT_WITHIN_MS)).then(end);
  }

  #take(lines: readonly string[]): void {
    try {
      this.#reports.push(...lines.map(parseReport));
    } catch {
      this.kill();
    }
    this.#onReport();
  }

  /** The next report; null when there will be none. */
  async #nextReport(): Promise<LauncherReport | null> {
    for (;;) {
      const report = this.#reports.shift();
      if (report !== undefined) return report;
      if (this.#ended) return null;
      await new Promise<void>((resolve) => {
        this.#onReport = resolve;
      });
    }
  }

  async #awaitReady(): Promise<LauncherReady> {
    const cancel = this.#clock.after(READY_WITHIN_MS, () => this.kill());
    try {
      const report = await this.#nextReport();
      if (report !== null && 'ready' in report) return report;
      if (report !== null && 'error' in report) throw launchError(report);
      throw new SandboxRefused(`The launcher ended before it was ready${await this.#ending()}.`);
    } finally {
      cancel();
    }
  }

  async #awaitStart(): Promise<void> {
    const first = await this.#nextReport();
    if (first === null) throw new SandboxRefused(`The launcher ended before the tool started${await this.#ending()}.`);
    if ('error' in first) throw launchError(first);
    // The descriptor is closed by the execution itself, so an end without another word is the start of the tool.
    const second = await this.#nextReport();
    if (second !== null && 'error' in second) throw launchError(second);
    if (!this.#ownPipes) return;
    // The tool has other pipes; these two would be held, unread, for as long as it runs.
    this.#child?.stdout?.destroy();
    this.#child?.stderr?.destroy();
  }

  async #ending(): Promise<string> {
    const { exitCode, signal } = await this.exited;
    const how = signal === null ? (exitCode === null ? '' : ` (exit ${exitCode})`) : ` (${signal})`;
    const said = this.#diagnosis.trim();
    return said === '' ? how : `${how}: ${said.slice(0, DIAGNOSIS_MAX_BYTES)}`;
  }

  /**
   * What the launcher inherited from Node are socket pairs, on which `echo text > /dev/stderr` fails with ENXIO. So it
   * makes real pipes, and we open their read ends through its /proc entry.
   */
  #openOutput(pid: number, output: LauncherReady['output']): Output {
    if (output !== null) {
      this.#ownPipes = true;
      const stdout = openPipe(pid, output.stdout);
      try {
        return { stdout, stderr: openPipe(pid, output.stderr) };
      } catch (error) {
        stdout.destroy();
        throw error;
      }
    }
    const { stdout, stderr } = this.#child ?? {};
    if (!stdout || !stderr) throw new SandboxRefused('The launcher has no output.');
    stderr.removeAllListeners('data');
    return { stdout, stderr };
  }

  #keepAlive(yes: boolean): void {
    const parts = [this.#child, this.#child?.stdout, this.#child?.stderr, this.#control];
    for (const part of parts as ({ ref?: () => void; unref?: () => void } | null | undefined)[]) {
      if (yes) part?.ref?.();
      else part?.unref?.();
    }
  }
}

function openPipe(pid: number, fd: number): Readable {
  const opened = openSync(`/proc/${pid}/fd/${fd}`, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    return new Socket({ fd: opened, readable: true, writable: false });
  } catch (error) {
    closeSync(opened);
    throw error;
  }
}

/** One line for a launcher. Throws SandboxRefused where it is too long. */
export function encodeOrder({ argv, env, cwd, policy, account = null, limits = {} }: LaunchOrder): string {
  const text = `${JSON.stringify({ argv, env, cwd, policy, account, limits })}\n`;
  if (Buffer.byteLength(text) > ORDER_MAX_BYTES)
    throw new SandboxRefused(`The order is longer than ${ORDER_MAX_BYTES} bytes.`);
  return text;
}
