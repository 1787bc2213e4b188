import { join } from 'node:path';
import type { Account } from '../domain/jobs/account.ts';
import { KINDS } from '../domain/kinds.ts';
import type { Clock } from '../lib/clock.ts';
import { endAccount } from './process/end-account.ts';
import type { Bounds, ProgramBounds } from './bounds/bounds.ts';
import type { Launcher, LaunchRequest } from './launch/launch.ts';
import type { Waiting } from './launch/tool.ts';
import type { Recorder } from './output/recorder.ts';
import { childEnvironment } from './process/environment.ts';
import type { Guard } from './process/guard.ts';
import { termDirOf } from './process/term-once.ts';
import { inputsDirOf } from './run-dir.ts';
import type { ProgramOrder, RunJob } from './runner.ts';
import type { SandboxPolicy } from './sandbox/policy.ts';
import type { SharedMemoryUse } from './shared-memory/shared-memory.ts';

/** In a line of the output. */
const PIDS_NAMED = 10;

/** What a run starts its programs with. */
export interface ProgramSetup {
  readonly clock: Clock;
  readonly launcher: Launcher;
  readonly guard: Guard;
  readonly bounds: Bounds;
  /** Whom sandboxed jobs run as; null for the account of the daemon. */
  readonly account: Account | null;
  readonly path: string;
  readonly lang: string;
  /** Files and directories of the service: no order makes one of them writable. */
  readonly keptFolders?: readonly string[];
}

export interface LeaderReports {
  /** A process that waits to become the first program, recorded with the claim; answers it once, and then null. */
  takeChild(): Waiting | null;
  /** The first process of a program, before the program itself does anything. */
  leader(leader: { pid: number; startTicks: number }): Promise<void>;
}

/** The run that a program belongs to. */
export interface Program {
  readonly job: Pick<RunJob<unknown, unknown>, 'id' | 'kind' | 'privileged'>;
  readonly runDir: string;
  readonly clearFiles: readonly string[];
  /** What the run has in shared memory; null where that is not known. */
  readonly shared: SharedMemoryUse | null;
  /** The folder of its read-only files, once it has some. */
  inputsDirs: readonly string[];
}

interface RunLimits {
  /** Of the monotonic clock. */
  readonly deadline: number;
  readonly signal: AbortSignal;
}

/** What the programs of one run share. */
export interface RunParts {
  readonly setup: ProgramSetup;
  readonly program: Program;
  readonly recorder: Recorder;
  readonly reports: LeaderReports;
  readonly limits: RunLimits;
}

/** A privileged run is the daemon's own: it may do what the daemon may. */
export function accountOf({ account }: { account: Account | null }, job: Program['job']): Account | null {
  return job.privileged ? null : account;
}

/** How the processes of the run are stopped. */
export function stopOf({ job, runDir }: Program) {
  return { termDir: termDirOf(runDir), leaderFirst: KINDS[job.kind].stop === 'leader-first' };
}

/** What ends all processes of the account of the run at one blow; null where they have no separate account. */
export function endAccountOf({ setup, program: { job } }: RunParts): (() => Promise<boolean>) | null {
  const account = accountOf(setup, job);
  // Without the right to become it, what can be ended is ended one by one.
  return account === null ? null : () => endAccount(account, job.id, setup.clock).catch(() => false);
}

/** What the output says of the processes that are left. */
export function leftOver(pids: readonly number[]): string {
  return `Processes of the job could not be ended and may still run (${pids.slice(0, PIDS_NAMED).join(', ')}).`;
}

/** What is launched for an order; the caller adds what happens before the start. */
export function launchRequest({ setup, program }: RunParts, order: ProgramOrder, bounds: ProgramBounds): LaunchRequest {
  const { job, runDir, inputsDirs } = program;
  const cwd = join(runDir, order.folder ?? '');
  const account = accountOf(setup, job);
  return {
    argv: [...order.argv],
    env: childEnvironment({
      jobId: job.id,
      runDir,
      cwd,
      path: setup.path,
      lang: setup.lang,
      extra: order.environment ?? {},
      ...(account === null ? {} : { user: account.name }),
    }),
    cwd,
    account,
    policy: job.privileged ? null : policyOf(order, { runDir, inputsDirs, kept: setup.keptFolders ?? [] }),
    ...bounds.order,
  };
}

interface Places {
  readonly runDir: string;
  readonly inputsDirs: readonly string[];
  readonly kept: readonly string[];
}

function policyOf(order: ProgramOrder, { runDir, inputsDirs, kept }: Places): SandboxPolicy {
  const { readable = [], writable = [], connectPorts, unfiltered = 'refused' } = order;
  const { unixSockets = false, sharedMemory = false, sockets = [] } = order;
  const paths = { readable: [...readable, ...inputsDirs], writable: [runDir], outside: { paths: writable, kept } };
  return { ...paths, connectPorts, unfiltered, unixSockets, sharedMemory, sockets };
}

/** Hands the processes of the run to the guard, and records the first one, before it does anything. */
export async function registerLeader(
  { setup, program, reports }: RunParts,
  order: ProgramOrder,
  leader: Waiting,
): Promise<void> {
  const { job, runDir } = program;
  const clear = [...program.clearFiles, ...(order.clearFiles ?? [])];
  const stop = stopOf(program);
  setup.guard.watch({
    jobId: job.id,
    pid: leader.pid,
    startTicks: leader.startTicks,
    account: accountOf(setup, job),
    ...stop,
    output: stop.leaderFirst ? leader.output : null,
    remove: [runDir, inputsDirOf(runDir)].flatMap((folder) => clear.map((name) => ({ folder, name }))),
  });
  await reports.leader({ pid: leader.pid, startTicks: leader.startTicks });
}
