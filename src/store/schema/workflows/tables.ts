import type { Origin } from '../../../domain/approvals/approval.ts';
import type { JobTrigger } from '../../../domain/jobs/job.ts';
import type { StepAction } from '../../../domain/rules/step-actions.ts';
import type { RunDefinition, RunEnd, StepEnd, Workflow } from '../../../domain/workflows/workflow.ts';
import type { Json } from '../../../lib/json.ts';

declare module '../schema.ts' {
  interface Schema {
    workflows: WorkflowRow;
    workflow_runs: WorkflowRunRow;
    workflow_steps: WorkflowStepRow;
  }
}

export interface WorkflowRow {
  name: string;
  /** JSON. */
  definition: Json<Workflow<StepAction>>;
  /** JSON: its author; in the asking chain of its runs. */
  owners: Json<readonly string[]>;
  added_by: string;
  created_at: number;
  updated_at: number;
  /** Its tag (`engine/tags`) and the id of the tag's key; null in rows of earlier builds. */
  order_tag: string | null;
  order_key_id: string | null;
}

export interface WorkflowRunRow {
  id: string;
  workflow: string;
  /** JSON: the Workflow at the start, without `${…}`: a later change of the workflow does not change the run. */
  definition: Json<RunDefinition<StepAction>>;
  /** `running` until every step has ended; whether it waits for an approval follows from the steps. */
  state: RunEnd | 'running';
  trigger: JobTrigger;
  /** Of the start, for the approvals of steps. */
  origin: Origin;
  event_id: string | null;
  rule: string | null;
  matched_at: number | null;
  schedule: string | null;
  requested_by: string;
  /** JSON: the owners in the asking chain, the root first. */
  owners: Json<readonly string[]>;
  /** The run whose results it takes for the steps that it does not run. */
  resumes: string | null;
  /** Why it was asked for; each of its jobs has the same. */
  because: string | null;
  created_at: number;
  finished_at: number | null;
  cancel_requested_at: number | null;
  /** 1 while a pass left something to do. */
  unfinished: 0 | 1;
  /** The event of its end; null until it is made. */
  outcome_event_id: string | null;
  order_tag: string | null;
  order_key_id: string | null;
}

export interface WorkflowStepRow {
  run_id: string;
  /** Its place in the file. */
  position: number;
  name: string;
  /** `started`: it has the state of its job. */
  state: StepEnd | 'waiting' | 'started';
  job_id: string | null;
  /** The run whose result it is, where this run did not run the step. */
  taken_from: string | null;
  /** Why it ended without a job, or how its job ended, as a part of a sentence. */
  reason: string | null;
  order_tag: string | null;
  order_key_id: string | null;
}
