-- What was deleted of jobs, events and notifications, and the daemon whose turn it is to delete.
create table retention (
  name text collate "C" not null primary key,
  daemon_id text collate "C" not null,
  turn_until bigint not null,
  shortened_at bigint,
  deleted bigint not null default 0
);

-- Jobs whose redrive was deleted: they are not queued again.
create table redriven_jobs (
  job_id text collate "C" not null primary key
);

-- Whether a row is still named by others.
create index artifacts_by_job on artifacts (job_id);
create index states_by_job on states (job_id) where job_id is not null;
create index jobs_by_plan on jobs (plan_artifact_id) where plan_artifact_id is not null;
create index jobs_by_outcome on jobs (outcome_event_id) where outcome_event_id is not null;
create index approvals_by_alert on approvals (alert) where alert is not null;
create index workflow_runs_by_event on workflow_runs (event_id) where event_id is not null;
create index workflow_runs_by_outcome on workflow_runs (outcome_event_id) where outcome_event_id is not null;
