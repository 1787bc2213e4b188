import { Failure } from '../../../domain/failure.ts';
import { isTerminal } from '../../../domain/jobs/job.ts';
import { parseEnvelope } from '../connection/client.ts';
import { awaitedJob, EXIT_INTERRUPTED, exitCodeOfJob, readJob, type SeenJob } from './follow.ts';
import { watchDaemon } from './lost-runs.ts';
import { pollUntil, readDeadline } from './polling.ts';
import { watchUnclaimed } from './unclaimed/watch-unclaimed.ts';
import { type Session, showData } from '../connection/session.ts';
import { write } from '../terminal.ts';

/** `svc job wait`: polls until the job has ended, shows it, and resolves to its exit code. It uses no stream. */
export async function jobWait(session: Session): Promise<number> {
  const { terminal, options, fields, flags } = session;
  const deadline = readDeadline(flags['timeout'], terminal.clock, 'svc job wait --help');
  const stop = new AbortController();
  const restore = terminal.onInterrupt(() => stop.abort());
  const daemon = { failure: null as Failure | null };
  const id = String(fields['id']);
  const end = (failure: Failure): void => {
    daemon.failure = failure;
    stop.abort();
  };
  const unwatch = watchDaemon(session, id, end);
  let last: SeenJob | null = null;
  const awaited = awaitedJob(session, id, () => Promise.resolve(last));
  const quiet = watchUnclaimed(session, awaited, end);
  try {
    const polling = { clock: terminal.clock, deadline, signal: stop.signal };
    const job = await pollUntil(polling, async () => {
      last = await readJob(session.client, id);
      return look(last, id, session, deadline);
    });
    if (daemon.failure !== null) throw daemon.failure;
    if (job === null) return EXIT_INTERRUPTED;
    if (options.output === 'json') await write(terminal.stdout, job.text);
    else await showData(session, parseEnvelope(job.text));
    return exitCodeOfJob(job);
  } finally {
    quiet();
    unwatch();
    restore();
  }
}

function look(job: SeenJob, id: string, { terminal }: Session, deadline: number): SeenJob | 'again' {
  if (isTerminal(job.state)) return job;
  if (terminal.clock.monotonic() >= deadline)
    throw new Failure('unavailable', `Job ${id} is still ${job.state}; it continues.`);
  return 'again';
}
