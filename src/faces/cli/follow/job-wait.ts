import { Failure } from '../../../domain/failure.ts';
import { isTerminal } from '../../../domain/jobs/job.ts';
import { parseEnvelope } from '../connection/client.ts';
import { type End, EXIT_INTERRUPTED, exitCodeOfJob, readJob } from './follow.ts';
import { watchDaemon } from './lost-runs.ts';
import { pollUntil, readDeadline } from './polling.ts';
import { type Session, showData } from '../connection/session.ts';
import { write } from '../terminal.ts';

/** `svc job wait`: polls until the job has ended, shows it, and resolves to its exit code. It uses no stream. */
export async function jobWait(session: Session): Promise<number> {
  const { terminal, options, fields, flags } = session;
  const deadline = readDeadline(flags['timeout'], terminal.clock, 'svc job wait --help');
  const stop = new AbortController();
  const restore = terminal.onInterrupt(() => stop.abort());
  const daemon = { failure: null as Failure | null };
  const unwatch = watchDaemon(session, String(fields['id']), (failure) => {
    daemon.failure = failure;
    stop.abort();
  });
  try {
    const polling = { clock: terminal.clock, deadline, signal: stop.signal };
    const job = await pollUntil(polling, () => look(session, String(fields['id']), deadline));
    if (daemon.failure !== null) throw daemon.failure;
    if (job === null) return EXIT_INTERRUPTED;
    if (options.output === 'json') await write(terminal.stdout, job.text);
    else await showData(session, parseEnvelope(job.text));
    return exitCodeOfJob(job);
  } finally {
    unwatch();
    restore();
  }
}

async function look(
  { client, terminal }: Session,
  id: string,
  deadline: number,
): Promise<(End & { text: string }) | 'again'> {
  const job = await readJob(client, id);
  if (isTerminal(job.state)) return job;
  if (terminal.clock.monotonic() >= deadline)
    throw new Failure('unavailable', `Job ${id} is still ${job.state}; it continues.`);
  return 'again';
}
