import * as z from 'zod';
import { JOB_KINDS, JOB_STATES, JOB_TRIGGERS } from '../../domain/jobs/job.ts';
import { CHUNK_STREAMS } from '../../lib/chunks/chunk-event.ts';
import { because, count, sourceCommit, time } from '../shapes.ts';

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

/** A change of the configuration. */
const orderedChange = z.object({
  change: z.enum(['add', 'change', 'remove']),
  kind: z.string(),
  name: z.string(),
  fields: z.array(z.object({ field: z.string(), from: z.string().nullable(), to: z.string().nullable() })).readonly(),
});

const progress = z.object({ play: z.string(), task: z.string(), elapsed_seconds: count });

const texts = z.array(z.string()).readonly();

const ended = { state: z.enum(JOB_STATES), exit_code: z.int().nullable() };

const event = {
  state: z.object({ seq: count, at: time, type: z.literal('state'), ...ended }),
  log: z.object({ seq: count, at: time, type: z.literal('log'), stream: z.enum(CHUNK_STREAMS), text: z.string() }),
  progress: z.object({ seq: count, at: time, type: z.literal('progress'), play: z.string(), task: z.string() }),
};

/** The events of the stream of a job. Those of `job.events` and, as the last one, how it ended. */
export const JOB_STREAM = { ...event, end: z.object(ended) };

export const JOB_VIEWS = {
  'job.list': z.array(z.object({ ...job, ...jobTail })),
  'job.get': z.object({
    ...job,
    progress: progress.optional(),
    ...jobTail,
    /** The event that asked for it, or for the job that it repeats. */
    event_id: z.string().nullable(),
    /** The approval that it waits or waited for. */
    approval_id: z.string().nullable(),
    /** Why it failed, was cancelled or was interrupted. */
    reason: z.string().nullable(),
    /** The daemon that runs or ran it. */
    node: z.string().nullable(),
    /** The ended job whose order it repeats, at the request of a person. */
    rerun_of: z.string().nullable(),
    because,
    source_commit: sourceCommit,
  }),
  'job.events': z.array(z.discriminatedUnion('type', [event.state, event.log, event.progress])),
  order: z.object({
    job_id: z.string(),
    kind: z.enum(JOB_KINDS),
    inventory: z.string().nullable(),
    hosts: z.object({ count, names: texts }).nullable(),
    limit: z.string().nullable(),
    tags: texts.nullable(),
    skip_tags: texts.nullable(),
    command: texts.nullable(),
    playbook: z.string().nullable(),
    source: z.string().nullable(),
    source_commit: z.string().nullable(),
    path: z.string().nullable(),
    extra_vars: z.record(z.string(), z.unknown()).readonly().nullable(),
    secrets: texts.nullable(),
    changes: z.array(orderedChange).readonly().nullable(),
    privileged: z.boolean(),
    writable: texts.nullable(),
    egress_ports: z.array(count).readonly().nullable(),
    timeout: z.string(),
    summary: z.string().nullable(),
    because: z.string().nullable(),
    /** The schedule whose time it was; null where none asked, or it needed no approval. */
    schedule: z.string().nullable(),
    alert: z
      .object({
        name: z.string().nullable(),
        status: z.string().nullable(),
        severity: z.string().nullable(),
        host: z.string().nullable(),
        sender_text: z.object({ summary: z.string().nullable(), description: z.string().nullable() }),
      })
      .nullable(),
    /** Of a workflow; with the steps before it that did not succeed. */
    step: z
      .object({
        run_id: z.string(),
        workflow: z.string(),
        name: z.string(),
        failed_before: z.array(z.object({ name: z.string(), state: z.string() })),
      })
      .nullable(),
  }),
  'job.enqueued': z.object({ job_id: z.string(), state: z.enum(JOB_STATES) }),
  'job.redrive': z.array(
    z.object({
      old_job_id: z.string(),
      new_job_id: z.string().nullable(),
      /** Of a dry run: why the job is left out. */
      skipped: z.string().optional(),
    }),
  ),
} as const satisfies Record<string, z.ZodType>;
