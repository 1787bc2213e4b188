import type { Pinned } from '../../../domain/approvals/pinned.ts';
import type { EventStatus } from '../../../domain/events/event.ts';
import type {
  InitialState,
  JobKind,
  JobProgress,
  JobState,
  JobTrigger,
  PartialLine,
} from '../../../domain/jobs/job.ts';
import type { Json } from '../../../lib/json.ts';

declare module '../schema.ts' {
  interface Schema {
    jobs: JobRow;
    job_chunks: ChunkRow;
    job_partials: PartialRow;
    job_follows: FollowRow;
    redriven_jobs: RedrivenJobRow;
    unread_files: UnreadFilesRow;
  }
}

export interface JobRow {
  id: string;
  kind: JobKind;
  state: JobState;
  /** The state that the job was born in: its first event is not stored, it is read off this and `created_at`. */
  initial_state: InitialState;
  runbook: string;
  source: string | null;
  trigger: JobTrigger;
  workspace: string | null;
  concurrency_key: string | null;
  /** 1 while an older job of the same key is queued or running: such a job is not claimable. */
  blocked: 0 | 1;
  privileged: 0 | 1;
  created_at: number;
  started_at: number | null;
  finished_at: number | null;
  expires_at: number | null;
  exit_code: number | null;
  /** The name of the principal that asked. */
  requested_by: string;
  /** JSON: the owners in the asking chain, the root first. */
  owners: Json<readonly string[]>;
  redrive_of: string | null;
  plan_artifact_id: string | null;
  /** JSON: what the runner needs. Never shown. */
  spec: string;
  timeout_ms: number;
  /** JSON. */
  progress: Json<JobProgress> | null;
  daemon_id: string | null;
  /** Counts the claims of this row: a late write of a daemon that lost its lease names an old one. */
  lease_generation: number;
  /** The first process of the run and its start time in clock ticks, against reused process ids. */
  leader_pid: number | null;
  leader_start: number | null;
  cancel_requested_at: number | null;
  /** The event of its end; null until it is made, and empty for jobs that ended before there were such events. */
  outcome_event_id: string | null;
  /** Of a drift run with a change to report: the status of its event. */
  drift_status: EventStatus | null;
  /** Its tag (`engine/tags`) and the id of the tag's key; null in rows of earlier builds. */
  order_tag: string | null;
  order_key_id: string | null;
  /** 1: it may write outside its run, and is not privileged. */
  writable: 0 | 1;
  /** The author's description; null without one. */
  summary: string | null;
  /**
   * Why it failed or was interrupted, or who asked for its cancellation; null until then, and for jobs of earlier
   * builds.
   */
  reason: string | null;
  /** The ended job whose order this one repeats, at the request of a person. */
  rerun_of: string | null;
  /** The name of the daemon that has to run it; null where any may. */
  node: string | null;
  /** JSON: what its request is about. Null for a job that needed no approval, or whose order says all. */
  pinned: Json<Pinned> | null;
  /** The reason that the requester gave; null without one. */
  because: string | null;
}

/** See PartialLine. */
/** That who ordered a job follows it. */
export interface FollowRow {
  job_id: string;
  until: number;
}

export interface PartialRow {
  job_id: string;
  stream: PartialLine['stream'];
  data: Uint8Array;
}

export interface ChunkRow {
  job_id: string;
  first_seq: number;
  last_seq: number;
  at: number;
  raw_bytes: number;
  data: Uint8Array;
}

/** A job that waits for approval and whose files were not read yet: a list of work, which decides nothing. */
export interface UnreadFilesRow {
  job_id: string;
}

/** A job whose redrive was deleted. */
export interface RedrivenJobRow {
  job_id: string;
}
