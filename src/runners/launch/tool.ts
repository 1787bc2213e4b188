import { fstatSync, readFileSync, writeFileSync } from 'node:fs';
import type { Readable } from 'node:stream';
import type { AccountIds } from '../../domain/jobs/account.ts';
import { actAs } from '../sandbox/kernel/effective-account.ts';
import { startChild } from './child.ts';
import type { Exit } from './children.ts';
import { type Connections, openConnections } from './connections.ts';
import { errorOf, type LaunchError, neverStarted, SandboxRefused } from './errors.ts';
import { type Machine, OOM_SCORE_ADJ, type Slot } from './machine.ts';
import type { LaunchOrder } from './steps.ts';
import type { CallList } from './records.ts';

/** A pipe: its read end as a descriptor of this process, and its inode, which identifies it. */
export interface OutputPipe {
  readonly fd: number;
  readonly inode: number;
}

export interface OutputPipes {
  readonly stdout: OutputPipe;
  readonly stderr: OutputPipe;
}

/** The process of a tool. Pid and start time together identify it for ever. */
interface Leader {
  readonly pid: number;
  /** Ticks since boot, field 22 of /proc/<pid>/stat. */
  readonly startTicks: number;
}

/** A process that waits to become a tool. */
export interface Waiting extends Leader {
  readonly output: OutputPipes;
  /** False once it has ended. */
  readonly isWaiting: boolean;
  /** Gives it up: it ends, and no tool was started. Does nothing once the tool was ordered to start. */
  giveUp(): void;
}

/** A tool that was ordered to start. Read `stdout` and `stderr` at once: they are pipes of limited size. */
export interface Launched extends Leader {
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** What a tool of an order with `reports` writes to REPORT_FD; null without. Read it at once, too. */
  readonly report: Readable | null;
  /** Resolves when the process has become the tool; rejects with a LaunchError when it ended before. */
  readonly started: Promise<void>;
  /** The end of the process, also when the tool never started. Its output may end later. */
  readonly exited: Promise<Exit>;
  /** The processes that jobs left behind and that this process adopted; null where the kernel has no such list. */
  adopted(): number[] | null;
}

/** One child: started, waiting, given what it is to become, and then the tool. */
export class Tool implements Launched, Waiting {
  readonly pid: number;
  readonly startTicks: number;
  readonly started: Promise<void>;
  readonly exited: Promise<Exit>;
  readonly #machine: Machine;
  #order: LaunchOrder | null = null;
  readonly #slot: Slot;
  readonly #list: CallList;
  readonly #connections: Connections;
  readonly #whenStarted = Promise.withResolvers<undefined>();
  readonly #whenExited = Promise.withResolvers<Exit>();
  readonly #onClose = (): void => this.#leave();
  #ordered = false;
  #isOver = false;
  #isGivenUp = false;
  /** Why it never became the tool, once it has left our memory; undefined while it shares it. */
  #end: LaunchError | null | undefined;

  /** Starts the child. Throws if that fails, or for a bad order; then nothing is left open. */
  constructor(machine: Machine, order: LaunchOrder | null = null) {
    this.#machine = machine;
    this.#slot = machine.takeSlot();
    this.#list = this.#slot.list();
    try {
      this.#connections = openConnections(machine.system, machine.input, order ?? {});
    } catch (error) {
      this.#slot.free();
      throw error;
    }
    const { control, ends } = this.#connections;
    try {
      machine.steps.addUntilWaiting(this.#list, ends);
      if (order !== null) this.prepare(order);
      this.pid = startChild(machine.system, machine.code, this.#list);
    } catch (error) {
      this.#disconnect();
      this.#slot.free();
      throw error;
    } finally {
      this.#connections.closeEnds();
    }
    this.started = this.#whenStarted.promise;
    this.started.catch(() => {});
    this.exited = this.#whenExited.promise;
    machine.children.add(this.pid, (exit) => this.#exited(exit));
    control.on('error', () => {}).once('close', this.#onClose);
    control.resume();
    try {
      this.startTicks = startTicksOf(this.pid);
    } catch (error) {
      this.giveUp();
      throw error;
    }
  }

  get stdout(): Readable {
    return this.#connections.stdout;
  }

  get stderr(): Readable {
    return this.#connections.stderr;
  }

  get report(): Readable | null {
    return this.#connections.report;
  }

  get output(): OutputPipes {
    const { stdout, stderr } = this.#connections.output;
    return { stdout: pipeOf(stdout), stderr: pipeOf(stderr) };
  }

  get isWaiting(): boolean {
    return !this.#ordered && !this.#isGivenUp && !this.#isOver && this.#end === undefined;
  }

  /** Says what the child is to become. Throws for an order that cannot be carried out. */
  prepare(order: LaunchOrder): void {
    const { problem } = this.#machine.confinement;
    if (order.policy !== null && problem !== null) throw new Error(problem);
    this.#machine.steps.addOrder(this.#list, order);
    this.#order = order;
  }

  /** The child continues and becomes the tool. */
  start(): void {
    this.#ordered = true;
    if (this.#order?.account) this.#machine.beginChange();
    this.#connections.control.write('s');
  }

  /** The child ends when its connection does. */
  giveUp(): void {
    if (this.#ordered) return;
    this.#isGivenUp = true;
    // Closed from here, it does not mean that the child has left.
    this.#connections.control.off('close', this.#onClose);
    this.#disconnect();
  }

  adopted(): number[] | null {
    return this.#machine.children.adopted();
  }

  #disconnect(): void {
    for (const stream of [this.#connections.control, this.stdout, this.stderr, this.report]) stream?.destroy();
  }

  /** The child has left our memory: it is the tool, or it has ended. */
  #leave(): void {
    if (this.#end !== undefined) return;
    this.#end = errorOf(this.#list, this.#order?.argv[0] ?? '');
    if (this.#end === null && !this.#ordered)
      this.#end = new SandboxRefused(neverStarted('its process ended before it was started'));
    this.#slot.free();
    const account = this.#order?.account ?? null;
    if (this.#end === null && !this.#isOver) offerToOomKiller(this.#machine, this.pid, account);
    if (this.#ordered && account !== null) this.#machine.endChange();
    if (this.#end !== null) return this.#whenStarted.reject(this.#end);
    this.#whenStarted.resolve(undefined);
  }

  #exited(exit: Exit): void {
    this.#isOver = true;
    this.#leave();
    this.#connections.control.destroy();
    this.#whenExited.resolve(this.#end ? { exitCode: this.#end.exitCode, signal: null } : exit);
  }
}

function pipeOf(fd: number): OutputPipe {
  return { fd, inode: fstatSync(fd).ino };
}

function startTicksOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]);
}

/**
 * When memory runs out, the kernel kills a job before the daemon and other programs. The daemon sets this after the
 * execution, because a child that shares our memory would set it for the daemon too. It is not needed for safety, so
 * an error is ignored. The file belongs to the account of the tool.
 */
function offerToOomKiller({ system }: Machine, pid: number, account: AccountIds | null): void {
  const offer = (): void => writeFileSync(`/proc/${pid}/oom_score_adj`, String(OOM_SCORE_ADJ));
  try {
    if (account === null) offer();
    else actAs(system, account, offer);
  } catch {
    // A read-only /proc, or the tool has ended.
  }
}
