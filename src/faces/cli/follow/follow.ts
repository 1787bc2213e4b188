import { formatDuration } from '../../../domain/duration.ts';
import { Failure } from '../../../domain/failure.ts';
import { isTerminal, type JobEvent, type JobState, type PartialEvent } from '../../../domain/jobs/job.ts';
import type { Projected } from '../../../views/views.ts';
import { pause } from '../../../lib/clock.ts';
import { type Client, readData, type SentEvent } from '../connection/client.ts';
import { placeFlags, type Session } from '../connection/session.ts';
import { eventText } from '../../areas/jobs/job-event.ts';
import { line } from '../../text/safe.ts';
import { terminalLine } from '../../text/terminal-line.ts';
import { ProgressLine } from './progress-line.ts';
import { write } from '../terminal.ts';
import { operationVerb, TREE } from '../syntax/tree.ts';
import { watchDaemon } from './lost-runs.ts';
import { type Awaited, watchUnclaimed } from './unclaimed/watch-unclaimed.ts';

/** How a job ended. */
export interface End {
  readonly state: JobState;
  readonly exit_code: number | null;
}

/** A job as it was read. */
export interface SeenJob extends End {
  /** The daemon that runs it or has to; null for any. */
  readonly node: string | null;
  /** The envelope. */
  readonly text: string;
}

/** Polling interval if the server has no free stream, in milliseconds. */
export const POLL_MS = 1_000;
/** 128 and the number of SIGINT: the command line was ended, not the job. */
export const EXIT_INTERRUPTED = 130;
const UNCLAIMED: readonly JobState[] = ['queued', 'awaiting_approval'];

/** What takes the events of a job. */
interface Sink {
  (event: SentEvent): Promise<void>;
  /** Removes what was shown for a moment only. */
  readonly clear?: () => Promise<void>;
}

/** Where the events begin, and what follows if all streams are in use. */
interface Start {
  /** The sequence number of the last event that is known. */
  readonly since: number;
  readonly whenFull: 'poll' | 'fail';
  /** Of a run that was ordered with `--wait`. */
  readonly followed?: true;
}

/**
 * Follows a job until it ends. Resolves to null on Ctrl-C: the job continues, and the command to resume was printed.
 */
export async function follow(session: Session, id: string, from: Start, sink: Sink): Promise<End | null> {
  const { terminal } = session;
  const detach = new AbortController();
  const restore = terminal.onInterrupt(() => detach.abort());
  const daemon = { failure: null as Failure | null };
  const stop = (failure: Failure): void => {
    daemon.failure = failure;
    detach.abort();
  };
  const unwatch = watchDaemon(session, id, stop);
  const quiet = watchUnclaimed(
    session,
    awaitedJob(session, id, () => readJob(session.client, id)),
    stop,
  );
  let last = from.since;
  try {
    for await (const event of events(session, id, from, detach.signal)) {
      if (detach.signal.aborted) break;
      if (event.event === 'end') {
        await sink(event);
        return JSON.parse(event.data) as End;
      }
      last = event.id ?? last;
      if (isOfClaimed(event)) quiet();
      await sink(event);
    }
  } finally {
    quiet();
    unwatch();
    restore();
    await sink.clear?.();
  }
  if (daemon.failure !== null) throw daemon.failure;
  if (!detach.signal.aborted) throw new Failure('unavailable', `The stream of job ${id} ended before the job did.`);
  terminal.stderr.write(
    line(`\nDetached; job ${id} continues. Resume with: svc job tail ${id} --since ${last}${placeFlags(session)}`),
  );
  return null;
}

/** Whether an event shows that a daemon has claimed the job. */
function isOfClaimed({ event, data }: SentEvent): boolean {
  return event !== 'state' || !UNCLAIMED.includes((JSON.parse(data) as End).state);
}

/** The stream; where all are in use and `from` says so, the same events batch after batch. */
async function* events(session: Session, id: string, from: Start, signal: AbortSignal): AsyncGenerator<SentEvent> {
  const { call } = operationVerb(TREE, 'job tail');
  let last = from.since;
  const fields = { id, since: last, ...(from.followed === true ? { followed: true } : {}) };
  try {
    for await (const event of session.client.follow(call, fields, signal)) {
      last = event.id ?? last;
      yield event;
    }
  } catch (error) {
    if (!isOverCap(error) || from.whenFull === 'fail') throw error;
    sayPolling(session);
    yield* poll(session, id, last, signal);
  }
}

/** All streams that the caller may have, or that there are, are in use. */
export function isOverCap(error: unknown): boolean {
  return error instanceof Failure && error.code === 'streams_over_cap';
}

export function sayPolling({ terminal }: Session): void {
  terminal.stderr.write(`All streams of the server are in use; polling every ${formatDuration(POLL_MS)} instead.\n`);
}

async function* poll(
  { client, terminal }: Session,
  id: string,
  since: number,
  signal: AbortSignal,
): AsyncGenerator<SentEvent> {
  const jobEvents = operationVerb(TREE, 'job events').call;
  let last = since;
  while (!signal.aborted) {
    // The state is read before the events: if it is an end, the events are complete.
    const job = await readJob(client, id);
    const batch = (await readData(await client.call(jobEvents, { id, since: last }))).data as JobEvent[];
    for (const event of batch) {
      last = event.seq;
      yield { event: event.type, id: event.seq, data: JSON.stringify(event) };
    }
    if (batch.length > 0) continue;
    if (isTerminal(job.state)) {
      yield { event: 'end', data: JSON.stringify({ state: job.state, exit_code: job.exit_code }) };
      return;
    }
    await pause(terminal.clock, POLL_MS, signal);
  }
}

export async function readJob(client: Client, id: string): Promise<SeenJob> {
  const { data, text } = await readData(await client.call(operationVerb(TREE, 'job get').call, { id }));
  return { ...(data as Projected<'job.get'>), text };
}

/** A job that no daemon may have claimed yet. `read` resolves to what is known of it, or null before that. */
export function awaitedJob(session: Session, id: string, read: () => Promise<SeenJob | null>): Awaited {
  const place = placeFlags(session);
  return {
    effect: `job ${id} stays queued`,
    advice: `Wait again: svc job wait ${id}${place}. Cancel it: svc job cancel ${id}${place}.`,
    busy: `Job ${id} is still queued: the daemons are busy, or another job holds its concurrency key.`,
    async needs() {
      const job = await read();
      if (job === null) return [];
      if (!UNCLAIMED.includes(job.state)) return 'over';
      return job.state === 'queued' ? [{ node: job.node, claims: true }] : [];
    },
  };
}

/** Each event as one line of JSON, as the stream sends it. */
export function jsonSink({ terminal }: Session): Sink {
  return ({ data }) => write(terminal.stdout, `${data}\n`);
}

/**
 * Lines of output on their own streams, or all on standard error; other events on standard error, marked. What is there
 * for a moment, progress and an unfinished line, is shown by ProgressLine.
 */
export function textSink({ terminal, options }: Session, output: 'own' | 'stderr'): Sink {
  const stdout = output === 'own' ? terminal.stdout : terminal.stderr;
  const moment = new ProgressLine(terminal, options.color);
  const sink = async ({ event, data }: SentEvent): Promise<void> => {
    if (event === 'end') return;
    const happened = JSON.parse(data) as JobEvent | PartialEvent;
    if (happened.type === 'partial') return moment.unfinished(happened.text);
    if (happened.type === 'progress') return moment.progress(eventText(happened));
    await moment.clear();
    if (happened.type === 'log' && happened.stream !== 'system') {
      const stream = happened.stream === 'stdout' ? stdout : terminal.stderr;
      await write(stream, `${terminalLine(happened.text, options.color && stream.isTTY === true)}\n`);
    } else await write(terminal.stderr, line(`-- ${eventText(happened)}`));
  };
  return Object.assign(sink, { clear: () => moment.clear() });
}

/**
 * The exit code of the command line for a job: that of the job, or 1 if it has none. It is never 0 for a job that did
 * not succeed, even if its tool exited with 0.
 */
export function exitCodeOfJob({ state, exit_code: code }: End): number {
  if (state === 'succeeded') return code === null ? 0 : asExitCode(code);
  return code === null || code === 0 ? 1 : asExitCode(code);
}

/** An exit code is 0 to 255; another number would wrap round, possibly to a success. */
function asExitCode(code: number): number {
  return code >= 0 && code <= 255 ? code : 1;
}
