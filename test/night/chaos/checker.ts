/**
 * Judges a history by the invariants that hold whatever is killed and when:
 *
 * I1 what was acknowledged is in the store, once, and in the audit ledger;
 * I2 a job starts its tool at most once;
 * I3 two tools of one concurrency key never live at a time;
 * I5 states move only along allowed edges, and what is terminal stays;
 * I6 once the faults are over, every job comes to its end;
 * I9 the sequence numbers of a job's events have no gap and no repeat.
 */
import { canMove, isTerminal, type JobState } from '../../../src/domain/jobs/job.ts';
import type { EnqueueAck, FinalJob, History } from './history.ts';

export interface Violation {
  readonly rule: 'I1' | 'I2' | 'I3' | 'I5' | 'I6' | 'I9';
  readonly what: string;
}

export function check(history: History): Violation[] {
  return [
    ...lostAcks(history),
    ...doubleJobs(history),
    ...ledgerGaps(history),
    ...doubleStarts(history),
    ...overlaps(history),
    ...history.jobs.flatMap(wrongMoves),
    ...changedEnds(history),
    ...history.jobs
      .filter((job) => !isTerminal(job.state))
      .map((job) => ({ rule: 'I6' as const, what: `${job.id} is still ${job.state}` })),
    ...history.jobs.flatMap(wrongNumbers),
  ];
}

function lostAcks({ enqueued, cancelled, jobs }: History): Violation[] {
  const known = new Map(jobs.map((job) => [job.id, job]));
  const lost = enqueued
    .filter((ack) => !known.has(ack.jobId))
    .map((ack) => `${ack.jobId} was acknowledged and is not there`);
  const ignored = cancelled
    .filter((id) => known.get(id)?.state !== 'cancelled' && known.get(id)?.cancelRequested !== true)
    .map((id) => `the cancel of ${id} was acknowledged and left no trace`);
  return [...lost, ...ignored].map((what) => ({ rule: 'I1', what }));
}

/** One request is one job, however often it was sent and whichever daemon answered. */
function doubleJobs({ enqueued, jobs }: History): Violation[] {
  const answers = group(
    enqueued.filter(isRequest),
    (ack) => ack.requestKey,
    (ack) => ack.jobId,
  );
  const rows = group(
    jobs.filter(isRequest),
    (job) => job.requestKey,
    (job) => job.id,
  );
  return [...answers, ...rows]
    .filter(([, ids]) => new Set(ids).size > 1)
    .map(([key, ids]) => ({ rule: 'I1', what: `the request ${key} made ${[...new Set(ids)].join(' and ')}` }));
}

function isRequest<T extends EnqueueAck | FinalJob>(one: T): one is T & { requestKey: string } {
  return one.requestKey !== null;
}

function ledgerGaps({ jobs, ledger }: History): Violation[] {
  const rows = group(
    ledger,
    (target) => target,
    () => 1,
  );
  return jobs
    .filter((job) => job.requestKey !== null && rows.get(job.id)?.length !== 1)
    .map((job) => ({ rule: 'I1', what: `${job.id} has ${rows.get(job.id)?.length ?? 0} rows in the ledger` }));
}

/** Seen from outside by the witness, and for sandboxed jobs by the line that their tool prints first. */
function doubleStarts({ witness, jobs }: History): Violation[] {
  const seen = group(
    witness.filter((line) => line.what === 'start'),
    (line) => line.jobId,
    (line) => line.pid,
  );
  return jobs.flatMap((job) => {
    const printed = job.events.filter(
      (event) => event.type === 'log' && event.stream === 'stdout' && event.text === 'start',
    ).length;
    const starts = Math.max(seen.get(job.id)?.length ?? 0, printed);
    const claims = job.events.filter((event) => event.type === 'state' && event.state === 'running').length;
    const found: Violation[] = starts > 1 ? [{ rule: 'I2', what: `${job.id} started its tool ${starts} times` }] : [];
    if (claims > 1) found.push({ rule: 'I2', what: `${job.id} was claimed ${claims} times` });
    return found;
  });
}

/** The tool itself finds the lock of its key taken; and who succeeded has said so before the next one starts. */
function overlaps({ witness, jobs }: History): Violation[] {
  const states = new Map(jobs.map((job) => [job.id, job.state]));
  const found: Violation[] = [];
  const open = new Map<string, string>();
  for (const line of witness) {
    if (line.what === 'overlap')
      found.push({ rule: 'I3', what: `${line.jobId} started while a process of its key ${line.key} lived` });
    if (line.what === 'end' && open.get(line.key) === line.jobId) open.delete(line.key);
    if (line.what !== 'start') continue;
    const before = open.get(line.key);
    if (before !== undefined && states.get(before) === 'succeeded') {
      found.push({ rule: 'I3', what: `${line.jobId} started before ${before} of the same key ${line.key} had ended` });
    }
    open.set(line.key, line.jobId);
  }
  return found;
}

function wrongMoves(job: FinalJob): Violation[] {
  const path = job.events.filter((event) => event.type === 'state').map((event) => event.state as JobState);
  const found: Violation[] = [];
  if (path[0] !== 'queued' && path[0] !== 'awaiting_approval')
    found.push({ rule: 'I5', what: `${job.id} was born ${path[0]}` });
  for (const [index, state] of path.entries()) {
    const before = path[index - 1];
    if (before !== undefined && !canMove(before, state))
      found.push({ rule: 'I5', what: `${job.id} moved from ${before} to ${state}` });
  }
  if (path.at(-1) !== job.state)
    found.push({ rule: 'I5', what: `${job.id} is ${job.state}, its events end with ${path.at(-1)}` });
  return found;
}

function changedEnds({ observed, jobs }: History): Violation[] {
  const states = new Map(jobs.map((job) => [job.id, job.state]));
  return observed
    .filter(({ jobId, state }) => isTerminal(state) && states.get(jobId) !== state)
    .map(({ jobId, state }) => ({
      rule: 'I5',
      what: `${jobId} was seen as ${state} and is ${states.get(jobId) ?? 'gone'}`,
    }));
}

function wrongNumbers(job: FinalJob): Violation[] {
  const wrong = job.events.findIndex((event, index) => event.seq !== index + 1);
  return wrong < 0
    ? []
    : [{ rule: 'I9', what: `event ${wrong + 1} of ${job.id} has the number ${job.events[wrong]?.seq}` }];
}

function group<T, K, V>(from: readonly T[], keyOf: (one: T) => K, valueOf: (one: T) => V): Map<K, V[]> {
  const groups = new Map<K, V[]>();
  for (const one of from) {
    const values = groups.get(keyOf(one)) ?? [];
    values.push(valueOf(one));
    groups.set(keyOf(one), values);
  }
  return groups;
}
