-- Workflows: their definitions, their runs, and the steps of each run.
create table workflows (
  name text collate "C" not null primary key,
  definition text not null,
  owners text not null,
  added_by text not null,
  created_at bigint not null,
  updated_at bigint not null,
  order_tag text,
  order_key_id text
);

-- A run has the definition that it started with, with the values of its event filled in.
create table workflow_runs (
  id text collate "C" not null primary key,
  workflow text collate "C" not null,
  definition text not null,
  state text not null check (state in ('running','succeeded','degraded','failed','cancelled','interrupted')),
  "trigger" text not null,
  origin text not null check (origin in ('alert','manual','schedule')),
  event_id text,
  rule text,
  matched_at bigint,
  schedule text,
  requested_by text not null,
  owners text not null,
  resumes text,
  created_at bigint not null,
  finished_at bigint,
  cancel_requested_at bigint,
  -- 1 while a pass left something to do.
  unfinished integer not null default 0,
  -- The event of its end; null until it is made.
  outcome_event_id text,
  order_tag text,
  order_key_id text
);
create index workflow_runs_by_workflow on workflow_runs (workflow, id);
create index workflow_runs_open on workflow_runs (id) where state = 'running';
create index workflow_runs_untold on workflow_runs (id) where outcome_event_id is null and state <> 'running';

create table workflow_steps (
  run_id text collate "C" not null,
  position integer not null,
  name text not null,
  -- `started`: it has the state of its job.
  state text not null check (state in ('waiting','started','succeeded','degraded','failed','cancelled','interrupted','skipped')),
  job_id text collate "C",
  -- The run whose result it is, where it was not run again.
  taken_from text,
  reason text,
  primary key (run_id, name)
);
create unique index workflow_steps_by_job on workflow_steps (job_id) where job_id is not null and taken_from is null;
create index workflow_steps_started on workflow_steps (job_id) where state = 'started';
