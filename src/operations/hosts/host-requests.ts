import * as z from 'zod';
import type { Caller } from '../../domain/access/caller.ts';
import { requireDuration } from '../../domain/duration.ts';
import { EVENT_LIMITS } from '../../domain/events/event.ts';
import { Failure } from '../../domain/failure.ts';
import { Shares } from '../../lib/flow/shares.ts';
import { hostEvent } from '../../reaction/host-event.ts';
import { withoutCredentials } from '../../reaction/normalise/credentials.ts';
import { evaluateRules } from '../../reaction/evaluate-rules.ts';
import { decideAndRecord } from '../../reaction/decide-and-record.ts';
import { retryOnRuleChange } from '../../reaction/types.ts';
import { awaitJob, deadline } from '../jobs/job-wait.ts';
import { awaitRunOf } from '../workflows/run-wait.ts';
import * as field from '../core/fields.ts';
import { writeOperation, type Operation, type WaitContext, type Answered } from '../core/operation.ts';
import { actorOf, type Reply, written } from '../core/reply.ts';
import { type ViewData, VIEWS } from '../../views/views.ts';

/** The default and the longest time of `wait`: the contract's numbers. */
const WAIT_DEFAULT = '30s';
const WAIT_MIN_MS = 1;
const WAIT_MAX_MS = 300_000;

/** Requests of one process that may wait at a time, and of one token: each holds a connection and looks at its job. */
const WAITING = { all: 256, perHolder: 16 };
const waiting = new Shares(WAITING);

/** With its own three labels, a request stays well below the limit of an event. */
const METADATA_MAX = 32;
const METADATA_KEY = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$/;
const STATUS_MAX = 100;

const metadataValue = z.union([field.text(EVENT_LIMITS.valueCharacters), z.number(), z.boolean()], {
  error: `expected text of at most ${EVENT_LIMITS.valueCharacters} characters, a number, true or false`,
});

const request = writeOperation({
  id: 'host.request',
  summary: 'Create an event as a host; rules decide what happens',
  effect: 'enqueue',
  mayMakeNone: true,
  scopes: ['host'],
  // 200 where no job was made, or the one that was has ended.
  http: { method: 'POST', path: '/hosts/self/requests', query: ['wait', 'timeout'], otherStatuses: [200] },
  cli: { none: 'A host asks with its own token over HTTP; the command line acts as a person.' },
  mcp: { none: 'A host asks with its own token over HTTP; an agent is no host.' },
  input: z.strictObject({
    request: field
      .text(EVENT_LIMITS.nameCharacters)
      .regex(/^[^\p{Cc}\s](?:[^\p{Cc}]*[^\p{Cc}\s])?$/u, {
        error: 'expected a name without control characters and without blanks at its ends',
      })
      .describe('Name of the event'),
    reason: field.text(EVENT_LIMITS.valueCharacters).optional().describe('Reason, shown to people'),
    status: field.text(STATUS_MAX).optional().describe('firing, resolved, or another word'),
    metadata: z
      .record(z.string(), metadataValue)
      .refine((metadata) => Object.keys(metadata).every((key) => METADATA_KEY.test(key)), {
        error: 'expected names of 1 to 64 of A-Z a-z 0-9 _ . -',
      })
      .refine((metadata) => Object.keys(metadata).length <= METADATA_MAX, {
        error: `expected at most ${METADATA_MAX} entries`,
      })
      .default({})
      .describe('Labels of the event, each prefixed with metadata.'),
    wait: field.flag.describe('Respond when the job has ended'),
    timeout: z.string().default(WAIT_DEFAULT).describe('Maximum wait, up to 5m'),
  }),
  answers: ['host.request'],
  failures: ['unavailable'],
  async prepare({ services, caller }, { request, reason, status, metadata }) {
    const texts = Object.fromEntries(Object.entries(metadata).map(([key, value]) => [key, String(value)]));
    const event = hostEvent(caller.name, { request, reason: reason || null, status: status || null, metadata: texts });
    const sender = {
      principal: caller.name,
      owners: [caller.owner],
      subjects: [],
      via: caller.via,
      trigger: 'host',
      depth: 0,
    } as const;
    const [evaluated] = await evaluateRules(services.reaction, [event], sender);
    if (evaluated === undefined) throw new Error('an event was evaluated and did not come back');
    return evaluated;
  },
  async run({ tx, services }, { request }, evaluated) {
    const { event, jobId, approvalId } = await decideAndRecord(services.reaction, tx, evaluated);
    const { id, outcome, reason } = event;
    const answer = replyWith({ event_id: id, outcome, reason, job_id: jobId, approval_id: approvalId });
    const detail = { request: withoutCredentials(request), outcome, job: jobId };
    return { ...written(answer, id, detail), ...(jobId === null ? { jobless: true } : {}) };
  },
  async around(context, { wait, timeout }, write) {
    const waitMs = requireDuration('timeout', timeout, WAIT_MIN_MS, WAIT_MAX_MS);
    const writeTried = (): Promise<Answered> => retryOnRuleChange(context.services.reaction, write);
    if (!wait) {
      await writeTried();
      return null;
    }
    // Before anything is written: a request that is turned away here has made nothing.
    const release = place(context.caller);
    try {
      const first = await writeTried();
      // Under the same key this owner may have asked another route for something: that is answered as it was.
      if (first.kind !== 'host.request') return null;
      return await ended(context, VIEWS['host.request'].parse(first.data), waitMs);
    } finally {
      release();
    }
  },
});

function place({ id }: Caller): () => void {
  const release = waiting.take(id);
  if (release !== null) return release;
  throw new Failure(
    'unavailable',
    `At most ${WAITING.all} requests may wait at a time, and ${WAITING.perHolder} of one token. Nothing was ` +
      'asked for: retry, or ask without wait.',
  );
}

/** The first answer and how the job ended; null if there is no job to wait for. */
async function ended(context: WaitContext, first: ViewData<'host.request'>, waitMs: number): Promise<Reply | null> {
  const { store, services, clientWait } = context;
  const { job_id: jobId } = first;
  if (jobId === null) return null;
  const until = deadline(services.clock, waitMs, clientWait.signal);
  try {
    const end = await awaitJob(store.db, services, jobId, until.signal);
    // A rule may have started a workflow, whose first job this is: the request has ended with the run.
    const run = end === null ? null : await awaitRunOf(store.db, services, jobId, until.signal);
    if (run?.isStep === true && run.end !== null) return replyWith({ ...first, job_state: run.end });
    if (end !== null && run?.isStep === false)
      return replyWith({
        ...first,
        job_state: end.state,
        ...(end.exitCode === null ? {} : { exit_code: end.exitCode }),
      });
  } finally {
    until.clear();
  }
  if (!clientWait.gone()) return replyWith({ ...first, job_state: 'pending' });
  await noteDisconnected(context, jobId);
  return replyWith({ ...first, job_state: 'disconnected' });
}

/** That answer is not read: the ledger records the outcome of the wait. */
function noteDisconnected({ store, caller }: WaitContext, jobId: string): Promise<void> {
  return store.write(async (tx) =>
    tx.record({ ...actorOf(caller), operation: 'host.disconnected', target: jobId, detail: {} }),
  );
}

/** 202 while a job of it is queued, waits for approval or runs. */
function replyWith(data: ViewData<'host.request'>): Reply {
  const { job_id: jobId, job_state: state = 'pending' } = data;
  const done = jobId === null || !(UNENDED as readonly string[]).includes(state);
  return { shape: 'one', kind: 'host.request', data, ...(done ? { status: 200 } : {}) };
}

const UNENDED = ['pending', 'disconnected'] as const;

export const HOST_REQUEST_OPERATIONS: readonly Operation[] = [request];
