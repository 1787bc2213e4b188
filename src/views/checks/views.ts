import * as z from 'zod';
import {
  CHECK_KINDS,
  HALF_HOURS,
  HTTP_METHODS,
  METRIC_OPS,
  PROBE_DETAILS,
  TARGET_STATUSES,
} from '../../domain/checks/check.ts';
import { count, time } from '../shapes.ts';

/** A share of observations, from 0 to 1; null without one. */
const share = z.number().nullable();

const history = z.object({
  uptime_24h: share,
  uptime_7d: share,
  uptime_30d: share,
  uptime_90d: share,
  /** The start of the first day with an observation, if that is within the last 90 days. */
  observed_since: time.optional(),
  /** Of those of the last 24 hours that were up; null without one. */
  p50_ms: z.number().nullable(),
  p90_ms: z.number().nullable(),
  p99_ms: z.number().nullable(),
  /** The worst of each half hour of the last 24 hours, the oldest first. */
  half_hours: z.array(z.enum(HALF_HOURS)),
});

/** Without what is dialled: a URL may hold a credential. */
const target = z.object({
  name: z.string(),
  status: z.enum(TARGET_STATUSES),
  /** Of targets whose kind is in netgroups. */
  netgroup: z.string().optional(),
  duration_ms: count.nullable(),
  last_change: time.nullable(),
  snoozed_until: time.optional(),
  /** Of one check that is shown by itself: what the last probe of the daemon found, at most a minute late. */
  detail: z.enum(PROBE_DETAILS).optional(),
  /** Of a target that is down, if no probe has ever found it up. */
  never_up: z.literal(true).optional(),
  /** Of one check that is shown by itself. */
  history: history.optional(),
});

const check = z.object({
  name: z.string(),
  kind: z.enum(CHECK_KINDS),
  interval: z.string(),
  enabled: z.boolean(),
  targets: z.array(target),
  // A check has the fields of its kind, and no others.
  min_days: count.optional(),
  expect: count.optional(),
  expect_addr: z.string().nullable().optional(),
  op: z.enum(METRIC_OPS).optional(),
  value: z.number().optional(),
  method: z.enum(HTTP_METHODS).optional(),
  expect_body: z.string().nullable().optional(),
  pointer: z.string().nullable().optional(),
});

const result = z.object({
  target: z.string(),
  up: z.boolean(),
  duration_ms: count,
  /** Null for a target whose kind is in no netgroup. */
  netgroup: z.string().nullable(),
  detail: z.enum(PROBE_DETAILS),
});

export const CHECK_VIEWS = {
  'check.list': z.array(check),
  'check.get': check,
  'check.probe': z.object({ check: z.string(), targets: z.array(result) }),
} as const satisfies Record<string, z.ZodType>;
