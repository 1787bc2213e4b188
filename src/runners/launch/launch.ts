import { openingText } from '../../lib/files/closed.ts';
import { egressOf } from '../sandbox/egress.ts';
import { type OpenedFolders, openOutside } from '../sandbox/outside.ts';
import type { OutsideFolders, SandboxPolicy } from '../sandbox/policy.ts';
import { type SandboxSupport, supportOf } from '../sandbox/support.ts';
import { CommandNotExecutable, CommandNotFound, neverStarted, SandboxRefused } from './errors.ts';
import { type Machine, openMachine } from './machine.ts';
import { type LaunchOrder, openingOfOrder } from './steps.ts';
import { type Launched, Tool, type Waiting } from './tool.ts';

export interface LaunchRequest extends LaunchOrder {
  /** A child that waits already; without one, or where it has ended, another is started. */
  readonly child?: Waiting | null;
  /** Runs while the child still waits: what it records is recorded before the tool does anything. May reject. */
  readonly beforeStart?: (leader: Waiting) => void | Promise<void>;
  /** Gets a sentence for the output of the job where this kernel cannot enforce the policy as it is. */
  readonly say?: (text: string) => void;
}

interface LauncherOptions {
  /** Whether the operator accepts, on an older kernel, that programs reach ports that they were not given. */
  readonly allowUnfilteredEgress?: boolean;
  /** For tests. */
  readonly open?: () => Machine;
}

export interface Launcher {
  /**
   * Starts one tool. Rejects with a LaunchError when there is no process for it, and with the error of `beforeStart`;
   * in both cases the tool never starts. `started` reports later faults.
   */
  launch(request: LaunchRequest): Promise<Launched>;
  /** Starts a child for a later `launch`; null where there is no process to be had. */
  prepare(): Waiting | null;
  /** What sandboxed jobs get here. `isOtherAccount` says whether they run as another account than this process. */
  supported(isOtherAccount: () => Promise<boolean>): Promise<SandboxSupport>;
}

type Options = Required<LauncherOptions>;

const NO_FOLDERS: OutsideFolders = { paths: [], kept: [] };

/** Starts tools as children of this process. */
export function createLauncher({ open = openMachine, allowUnfilteredEgress = false }: LauncherOptions = {}): Launcher {
  const options = { open, allowUnfilteredEgress };
  return {
    launch: (request) => launch(options, request),
    prepare: () => prepared(open),
    supported: (isOtherAccount) => support(options, isOtherAccount),
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

async function launch(options: Options, { beforeStart, child, say, ...order }: LaunchRequest): Promise<Launched> {
  if (order.argv[0] === undefined || order.argv[0] === '')
    throw new CommandNotFound(neverStarted('the command is empty'));
  const opening = openingOfOrder(order);
  if (opening !== null) {
    child?.giveUp();
    const why = `with the rights of root runs only what no other account can change. ${openingText(opening)}`;
    throw new CommandNotExecutable(neverStarted(`${order.argv[0]}: ${why}`));
  }
  // A child that waits already has no pipe to report through, and no descriptors of folders.
  const { outside = NO_FOLDERS } = order.policy ?? {};
  const needsMore = order.reports === true || outside.paths.length > 0;
  const usable = child instanceof Tool && child.isWaiting && !needsMore;
  if (!usable) child?.giveUp();
  const { tool, note } = toolFor(options, order, usable ? child : null);
  if (note !== null) say?.(note);
  try {
    await beforeStart?.(tool);
  } catch (error) {
    tool.giveUp();
    throw error;
  }
  tool.start();
  return tool;
}

function toolFor(options: Options, order: LaunchOrder, child: Tool | null): { tool: Tool; note: string | null } {
  let folders: OpenedFolders | null = null;
  try {
    const machine = options.open();
    const { policy, note } = enforceable(options, machine, order);
    const { outside = NO_FOLDERS } = policy ?? {};
    if (outside.paths.length > 0) folders = openOutside(outside);
    const enforced = { ...order, policy, ...(folders === null ? {} : { folders: folders.fds }) };
    if (child === null) return { tool: new Tool(machine, enforced), note };
    child.prepare(enforced);
    return { tool: child, note };
  } catch (error) {
    child?.giveUp();
    throw new SandboxRefused(neverStarted(error instanceof Error ? error.message : String(error)), { cause: error });
  } finally {
    folders?.close();
  }
}

/** The policy as this kernel enforces it. Throws the reason why it must not be started here. */
function enforceable(
  { allowUnfilteredEgress }: Options,
  { confinement: { abi, problem } }: Machine,
  { policy, account }: LaunchOrder,
): { policy: SandboxPolicy | null; note: string | null } {
  if (policy === null) return { policy, note: null };
  if (problem !== null) throw new Error(problem);
  const isOtherAccount = (account ?? null) !== null && account?.uid !== process.geteuid?.();
  const egress = egressOf(policy, { abi, isOtherAccount, allowUnfilteredEgress });
  if (egress.refusal !== null) throw new Error(egress.refusal);
  return { policy: { ...policy, connectPorts: egress.connectPorts }, note: egress.note };
}

async function support(
  { open, allowUnfilteredEgress }: Options,
  isOtherAccount: () => Promise<boolean>,
): Promise<SandboxSupport> {
  try {
    const { abi, problem } = open().confinement;
    if (problem !== null) return { state: 'none', detail: problem };
    return supportOf({ abi, isOtherAccount: await isOtherAccount(), allowUnfilteredEgress });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { state: 'none', detail: `the sandbox cannot be set up: ${why}` };
  }
}
