import { CommandNotFound, neverStarted, SandboxRefused } from './errors.ts';
import { type Machine, openMachine } from './machine.ts';
import type { LaunchOrder } from './steps.ts';
import { type Launched, Tool, type Waiting } from './tool.ts';

export interface LaunchRequest extends LaunchOrder {
  /** A child that waits already; without one, or where it has ended, another is started. */
  readonly child?: Waiting | null;
  /** Runs while the child still waits: what it records is recorded before the tool does anything. May reject. */
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

export interface Launcher {
  /**
   * Starts one tool. Rejects with a LaunchError when there is no process for it, and with the error of `beforeStart`;
   * in both cases the tool never starts. `started` reports later faults.
   */
  launch(request: LaunchRequest): Promise<Launched>;
  /** Starts a child for a later `launch`; null where there is no process to be had. */
  prepare(): Waiting | null;
  supported(): Promise<SandboxSupport>;
}

/** Starts tools as children of this process. `open` is for tests. */
export function createLauncher(open: () => Machine = openMachine): Launcher {
  return {
    launch: (request) => launch(open, request),
    prepare: () => prepared(open),
    supported: () => Promise.resolve(support(open)),
  };
}

function prepared(open: () => Machine): Waiting | null {
  try {
    return new Tool(open());
  } catch {
    // The launch tries again, and reports the reason in the output of its job.
    return null;
  }
}

async function launch(open: () => Machine, { beforeStart, child, ...order }: LaunchRequest): Promise<Launched> {
  if (order.argv[0] === undefined || order.argv[0] === '')
    throw new CommandNotFound(neverStarted('the command is empty'));
  // A child that waits already has no pipe to report through.
  const usable = child instanceof Tool && child.isWaiting && order.reports !== true;
  if (!usable) child?.giveUp();
  const tool = toolFor(open, order, usable ? child : null);
  try {
    await beforeStart?.(tool);
  } catch (error) {
    tool.giveUp();
    throw error;
  }
  tool.start();
  return tool;
}

function toolFor(open: () => Machine, order: LaunchOrder, child: Tool | null): Tool {
  try {
    if (child === null) return new Tool(open(), order);
    child.prepare(order);
    return child;
  } catch (error) {
    child?.giveUp();
    throw new SandboxRefused(neverStarted(error instanceof Error ? error.message : String(error)), { cause: error });
  }
}

function support(open: () => Machine): SandboxSupport {
  try {
    const { abi, problem } = open().confinement;
    const detail = `Landlock ABI ${abi}, seccomp on ${process.arch}${openGaps(abi)}`;
    return { ok: problem === null, abi, detail: problem ?? detail };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { ok: false, abi: 0, detail: `the sandbox cannot be set up: ${why}` };
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
