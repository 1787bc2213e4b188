import { z } from 'zod';
import { JOB_KINDS, JOB_STATES, JOB_TRIGGERS } from '../domain/job.ts';
import { SCOPES } from '../domain/scope.ts';
import { CHUNK_STREAMS } from '../lib/chunk.ts';

const time = z.iso.datetime({ precision: 3 });
const count = z.int().nonnegative();

const job = {
  id: z.string(),
  kind: z.enum(JOB_KINDS),
  state: z.enum(JOB_STATES),
  runbook: z.string(),
  source: z.string().nullable(),
  trigger: z.enum(JOB_TRIGGERS),
  workspace: z.string().nullable(),
  concurrency_key: z.string().nullable(),
  privileged: z.literal(true).optional(),
};

const jobTail = {
  created_at: time,
  started_at: time.nullable(),
  finished_at: time.nullable(),
  expires_at: time.optional(),
  exit_code: z.int().nullable(),
  requested_by: z.string(),
  redrive_of: z.string().nullable(),
  plan_artifact_id: z.string().nullable().optional(),
};

const progress = z.object({ play: z.string(), task: z.string(), elapsed_seconds: count });

const event = z.discriminatedUnion('type', [
  z.object({ seq: count, at: time, type: z.literal('state'), state: z.enum(JOB_STATES), exit_code: z.int().nullable() }),
  z.object({ seq: count, at: time, type: z.literal('log'), stream: z.enum(CHUNK_STREAMS), text: z.string() }),
  z.object({ seq: count, at: time, type: z.literal('progress'), play: z.string(), task: z.string() }),
]);

const token = z.object({
  id: z.string(),
  name: z.string(),
  owner: z.string(),
  scope: z.enum(SCOPES),
  created_at: time,
  expires_at: time.nullable(),
  revoked_at: time.nullable(),
});

/**
 * What each kind of answer may hold: an allow-list that also fixes the order of the keys, and so the bytes. To
 * project is to parse: a key that nobody named here is dropped.
 */
export const VIEWS = {
  whoami: z.object({
    id: z.string(),
    name: z.string(),
    scope: z.enum(SCOPES),
    via: z.string(),
    expires_at: time.nullable(),
    server: z.object({
      version: z.string().optional(),
      hostname: z.string().optional(),
      started_at: time.optional(),
    }),
  }),
  'job.list': z.array(z.object({ ...job, ...jobTail })),
  'job.get': z.object({ ...job, progress: progress.optional(), ...jobTail }),
  'job.events': z.array(event),
  'job.enqueued': z.object({ job_id: z.string(), state: z.enum(JOB_STATES) }),
  'job.redrive': z.array(z.object({ old_job_id: z.string(), new_job_id: z.string().nullable() })),
  'command.result': z.object({
    job_id: z.string(),
    state: z.enum(JOB_STATES),
    hosts: z.array(
      z.object({
        host: z.string(),
        rc: z.int().nullable(),
        changed: z.boolean(),
        stdout: z.string(),
        stderr: z.string(),
        status: z.enum(['ok', 'failed', 'unreachable']),
      }),
    ),
  }),
  doctor: z.array(z.object({ name: z.string(), status: z.enum(['ok', 'warn', 'fail', 'unknown']), detail: z.string() })),
  'maintenance.readiness': z.object({ cordoned: z.boolean(), in_flight: count, safe_to_reboot: z.boolean() }),
  'token.created': z.object({
    id: z.string(),
    name: z.string(),
    scope: z.enum(SCOPES),
    expires_at: time.nullable(),
    token: z.string(),
  }),
  'token.list': z.array(token),
  'token.get': token,
} as const satisfies Record<string, z.ZodType>;

export type ViewName = keyof typeof VIEWS;
/** What an operation hands over for a view: more keys may stand in it, they do not leave. */
export type ViewData<V extends ViewName> = z.input<(typeof VIEWS)[V]>;
/** What a face may show. */
export type Projected<V extends ViewName> = z.output<(typeof VIEWS)[V]>;
export type ViewItem<V extends ViewName> = ViewData<V> extends readonly (infer I)[] ? I : never;
