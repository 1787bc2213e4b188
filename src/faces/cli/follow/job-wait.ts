import { parseDuration } from '../../../domain/duration.ts';
import { Failure } from '../../../domain/failure.ts';
import { isTerminal } from '../../../domain/jobs/job.ts';
import { pause } from '../../../lib/clock.ts';
import { parseEnvelope } from '../connection/client.ts';
import { type End, EXIT_INTERRUPTED, exitCodeOfJob, readJob } from './follow.ts';
import { type Session, showData } from '../connection/session.ts';
import { write } from '../terminal.ts';
import { UsageFailure } from '../syntax/usage.ts';

/** The first polls follow quickly, because many jobs are short; the later ones are rare, to spare the server. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2_000;
/** Polls that may fail in a row while a daemon restarts. */
const FAILED_LOOKS_MAX = 10;

/** `svc job wait`: polls until the job has ended, shows it, and resolves to its exit code. It uses no stream. */
export async function jobWait(session: Session): Promise<number> {
  const { terminal, options, fields, flags } = session;
  const deadline = readDeadline(flags['timeout'], terminal.clock.monotonic());
  const stop = new AbortController();
  const restore = terminal.onInterrupt(() => stop.abort());
  try {
    const job = await look(session, String(fields['id']), deadline, stop.signal);
    if (job === null) return EXIT_INTERRUPTED;
    if (options.output === 'json') await write(terminal.stdout, job.text);
    else await showData(session, parseEnvelope(job.text));
    return exitCodeOfJob(job);
  } finally {
    restore();
  }
}

async function look(
  { client, terminal }: Session,
  id: string,
  deadline: number,
  signal: AbortSignal,
): Promise<(End & { text: string }) | null> {
  let pauseMs = FIRST_PAUSE_MS;
  let failed = 0;
  for (let known = false; ; known = true) {
    try {
      const job = await readJob(client, id);
      failed = 0;
      if (isTerminal(job.state)) return job;
      if (terminal.clock.monotonic() >= deadline)
        throw new Failure('unavailable', `Job ${id} is still ${job.state}; it continues.`);
    } catch (error) {
      failed += 1;
      const passes = error instanceof Failure && error.code === 'unavailable' && terminal.clock.monotonic() < deadline;
      if (!known || !passes || failed > FAILED_LOOKS_MAX) throw error;
    }
    const left = Math.max(0, deadline - terminal.clock.monotonic());
    if (!(await pause(terminal.clock, Math.min(pauseMs, left), signal))) return null;
    pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
  }
}

function readDeadline(timeout: string | undefined, nowMs: number): number {
  if (timeout === undefined) return Number.POSITIVE_INFINITY;
  const ms = parseDuration(timeout);
  if (ms === null)
    throw new UsageFailure('--timeout: expected a duration such as 30s, 5m or 1h30m.', 'svc job wait --help');
  return nowMs + ms;
}
