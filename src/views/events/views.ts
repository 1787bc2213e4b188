import * as z from 'zod';
import {
  EVENT_OUTCOMES,
  EVENT_SOURCES,
  EVENT_STATUSES,
  TRACE_STEPS,
  WEBHOOK_SOURCES,
} from '../../domain/events/event.ts';
import { JOB_STATES } from '../../domain/jobs/job.ts';
import { count, time } from '../shapes.ts';

const event = z.object({
  id: z.string(),
  source: z.enum(EVENT_SOURCES),
  name: z.string().optional(),
  status: z.enum(EVENT_STATUSES).optional(),
  netgroup: z.string().optional(),
  severity: z.string().nullable(),
  fingerprint: z.string().nullable(),
  labels: z.record(z.string(), z.string()),
  outcome: z.enum(EVENT_OUTCOMES),
  reason: z.string(),
  rule: z.string().nullable(),
  job_id: z.string().nullable(),
  approval_id: z.string().nullable(),
  received_at: time,
  /** `consecutive` reads `1 of 3`. */
  check_observations: z.array(z.object({ observed_at: time, status: z.string(), consecutive: z.string() })).optional(),
});

/** Of the evaluation of an event, and of the trial of a rule. */
export const traceStep = z.object({
  step: z.enum(TRACE_STEPS),
  rule: z.string().nullable(),
  result: z.enum(['passed', 'stopped', 'not reached', 'error']),
  why: z.string(),
  /** What each term of a rule yields by itself, where the rule did not match. */
  terms: z
    .array(z.object({ term: z.string(), result: z.enum(['true', 'false', 'error']), why: z.string().nullable() }))
    .optional(),
});

export const EVENT_VIEWS = {
  'event.list': z.array(event),
  'event.get': event.extend({
    /** Of its job, if it has one. */
    job_state: z.enum(JOB_STATES).nullable(),
  }),
  'event.summary': z.object({
    received: count,
    ignored: count,
    matched: count,
    suppressed: count,
    gated: count,
    fired: count,
    error: count,
  }),
  /** How an event came to its outcome, step by step. */
  'event.trace': z.object({
    event_id: z.string(),
    outcome: z.enum(EVENT_OUTCOMES),
    reason: z.string(),
    steps: z.array(traceStep),
    /** What the sender said beside the labels, without credentials. It decides nothing but where a rule asks for it. */
    annotations: z.record(z.string(), z.string()),
  }),
} as const satisfies Record<string, z.ZodType>;

const webhook = { name: z.string(), source: z.enum(WEBHOOK_SOURCES), signed: z.boolean() };
const shown = z.object({ ...webhook, created_at: time, last_heard_at: time.nullable() });

/**
 * Where alerts come in. The URL holds the token: it is shown when the webhook is made, as its signing secret is, and
 * never again.
 */
export const WEBHOOK_VIEWS = {
  'webhook.list': z.array(shown),
  'webhook.get': shown,
  'webhook.created': z.object({ ...webhook, url: z.string(), signing_secret: z.string().nullable() }),
  /** What became of a message: an entry for each alert in it, in its order. */
  'event.accepted': z.object({ events: z.array(z.object({ event_id: z.string(), outcome: z.enum(EVENT_OUTCOMES) })) }),
} as const satisfies Record<string, z.ZodType>;
