import { Socket } from 'node:net';
import { constants } from 'node:os';
import type { Readable } from 'node:stream';
import { pause, type Clock } from '../../lib/clock.ts';
import type { Exit } from '../launch/children.ts';
import type { Launched } from '../launch/tool.ts';
import { killAdopted } from './adopted.ts';
import { endTree, type EndTreeOptions, type TreeMembers } from './tree.ts';

export interface SuperviseOptions {
  readonly jobId: string;
  /** From now, in milliseconds of the monotonic clock. */
  readonly timeoutMs: number;
  /** From SIGTERM to SIGKILL, in milliseconds. */
  readonly graceMs: number;
  readonly clock: Clock;
  /** See EndTreeOptions. */
  readonly termDir?: string | null;
  readonly leaderFirst?: boolean;
  /** See EndTreeOptions. */
  readonly members?: TreeMembers | null;
  readonly endAccount?: EndTreeOptions['endAccount'];
  /** Aborted to cancel the run. */
  readonly signal?: AbortSignal;
}

interface SuperviseResult {
  /** Of the leader; 128 + n when signal n ended it; null when it could not be ended. */
  readonly exitCode: number | null;
  /** What came first. */
  readonly reason: 'exited' | 'timeout' | 'cancelled';
  /** Pids that not even SIGKILL ended. */
  readonly survivors: number[];
}

/** After SIGKILL the leader's end is a matter of the kernel; who waits in it for a device is not waited for. */
const EXIT_AFTER_END_MS = 1_000;
/**
 * With the tree gone, output that is held open and brings nothing for so long has no writer that belongs to the job.
 */
const QUIET_OUTPUT_MS = 500;
const OUTPUT_LOOK_MS = 20;
/** A pipe holds 64 KiB and the stream as much; who delivers more after the end of the tree is an escaped writer. */
const LATE_OUTPUT_MAX_BYTES = 1024 * 1024;

/** At the end of another job: about 1 ms. */
const LOOKS_AT_UNENDED = 64;
/** The jobs of which something was left at their end. Each end of another job sends SIGKILL to it again. */
const unended = new Set<string>();

/**
 * Waits for the end of a job's tool and of everything that it left behind: a background child does not outlive its job.
 * Returns after both outputs have ended. Rejects with the LaunchError when the tool never started, unless it was
 * stopped before.
 */
export async function supervise(launched: Launched, options: SuperviseOptions): Promise<SuperviseResult> {
  const { jobId, graceMs, clock, termDir = null, leaderFirst = false, members = null, endAccount = null } = options;
  // It runs again: what has its mark may be new.
  unended.delete(jobId);
  const reason = await firstReason(launched, options);
  const leader = { pid: launched.pid, startTicks: launched.startTicks };
  const adopted = (): readonly number[] | null => launched.adopted();
  const { left } = await endTree({ jobId, leader, graceMs, clock, termDir, leaderFirst, members, endAccount, adopted });
  if (left.length > 0) unended.add(jobId);
  for (const id of unended)
    if (id !== jobId && killAdopted(id, adopted, LOOKS_AT_UNENDED) === false) unended.delete(id);
  const end = await Promise.race([launched.exited, pause(clock, EXIT_AFTER_END_MS).then(() => null)]);
  const streams = [launched.stdout, launched.stderr, launched.report].filter((stream) => stream !== null);
  await Promise.all(streams.map((stream) => finishOutput(stream, clock)));
  if (reason === 'exited') await launched.started;
  return { exitCode: end === null ? null : exitCodeOf(end), reason, survivors: left };
}

/** As a shell tells it: the tool's own, or 128 and the signal's number. */
export function exitCodeOf({ exitCode, signal }: Exit): number | null {
  return signal === null ? exitCode : 128 + constants.signals[signal];
}

async function firstReason(
  { exited }: Launched,
  { timeoutMs, clock, signal }: SuperviseOptions,
): Promise<SuperviseResult['reason']> {
  if (signal?.aborted === true) return 'cancelled';
  const waiting = new AbortController();
  const cancel = (): void => waiting.abort();
  signal?.addEventListener('abort', cancel, { once: true });
  try {
    return await Promise.race([
      exited.then(() => 'exited' as const),
      // False means that it was not the time that ended the pause.
      pauseUntil(clock, clock.monotonic() + timeoutMs, waiting.signal).then((over) => (over ? 'timeout' : 'cancelled')),
    ]);
  } finally {
    signal?.removeEventListener('abort', cancel);
    waiting.abort();
  }
}

/** One timer holds at most 24 days, and a clock may fire early. */
async function pauseUntil(clock: Clock, atMs: number, signal: AbortSignal): Promise<boolean> {
  for (;;) {
    const leftMs = atMs - clock.monotonic();
    if (leftMs <= 0) return true;
    if (!(await pause(clock, leftMs, signal))) return false;
  }
}

/**
 * Waits until the output has ended, however slowly it is taken. What a process outside of the tree holds open is closed
 * on our side, so that it can't hold the run.
 */
export async function finishOutput(stream: Readable, clock: Clock): Promise<void> {
  if (stream.closed || stream.readableEnded) return;
  const done = new AbortController();
  const end = (): void => done.abort();
  stream.once('end', end).once('close', end);
  // Drain a stream that nothing reads.
  if (stream.readableFlowing === null && stream.listenerCount('readable') === 0) stream.resume();
  const before = bytesRead(stream);
  let last = before;
  let quietSince = clock.monotonic();
  while (await pause(clock, OUTPUT_LOOK_MS, done.signal)) {
    const now = bytesRead(stream);
    // The reader sets the pace; only a readable stream that delivers nothing is quiet.
    if (now !== last || stream.readableLength > 0 || stream.isPaused()) quietSince = clock.monotonic();
    last = now;
    const isQuiet = clock.monotonic() - quietSince >= QUIET_OUTPUT_MS;
    if (isQuiet || now - before > LATE_OUTPUT_MAX_BYTES) stream.destroy();
  }
}

function bytesRead(stream: Readable): number {
  return stream instanceof Socket ? stream.bytesRead : 0;
}
