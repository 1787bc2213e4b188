create table jobs (
  id text collate "C" not null primary key,
  kind text not null,
  state text not null check (state in ('awaiting_approval','queued','running','succeeded','failed','degraded','cancelled','interrupted')),
  initial_state text not null check (initial_state in ('queued','awaiting_approval')),
  runbook text not null,
  source text,
  "trigger" text not null,
  workspace text,
  concurrency_key text,
  blocked integer not null default 0,
  privileged integer not null default 0,
  created_at bigint not null,
  started_at bigint,
  finished_at bigint,
  expires_at bigint,
  exit_code integer,
  requested_by text not null,
  owners text not null,
  redrive_of text,
  plan_artifact_id text,
  spec text not null,
  timeout_ms bigint not null,
  progress text,
  daemon_id text,
  lease_generation integer not null default 0,
  leader_pid integer,
  leader_start bigint,
  cancel_requested_at bigint
);
create index jobs_by_state on jobs (state, id);
create index jobs_by_runbook on jobs (runbook, id);
create index jobs_by_key on jobs (concurrency_key, id) where concurrency_key is not null;
create index jobs_ready on jobs (id) where state = 'queued' and blocked = 0;
create unique index jobs_one_running_per_key on jobs (concurrency_key) where concurrency_key is not null and state = 'running';
create unique index jobs_one_ready_per_key on jobs (concurrency_key) where concurrency_key is not null and state = 'queued' and blocked = 0;
create index jobs_waiting_by_key on jobs (concurrency_key, id) where concurrency_key is not null and state = 'queued';
create index jobs_privileged on jobs (created_at) where privileged = 1;
create unique index jobs_one_redrive on jobs (redrive_of) where redrive_of is not null;

create table job_chunks (
  job_id text collate "C" not null,
  first_seq bigint not null,
  last_seq bigint not null,
  at bigint not null,
  raw_bytes integer not null,
  data bytea not null,
  primary key (job_id, first_seq)
);

create table tokens (
  id text collate "C" not null primary key,
  name text not null,
  owner text not null,
  scope text not null check (scope in ('readonly','operator','approve','host')),
  salt bytea not null,
  hash bytea not null,
  version integer not null,
  created_at bigint not null,
  expires_at bigint,
  revoked_at bigint
);
create unique index tokens_by_active_name on tokens (name) where revoked_at is null;

create table sessions (
  id text collate "C" not null primary key,
  token_id text not null references tokens (id),
  csrf text not null,
  created_at bigint not null,
  expires_at bigint not null
);

create table idempotency (
  holder text not null,
  key text not null,
  status integer not null,
  kind text not null,
  data text not null,
  created_at bigint not null,
  primary key (holder, key)
);

create table chains (
  id text collate "C" not null primary key,
  length bigint not null,
  head text not null
);

create table ledger (
  chain text not null,
  seq bigint not null,
  at bigint not null,
  principal text not null,
  owner text not null,
  via text not null,
  operation text not null,
  target text,
  detail text not null,
  prev text not null,
  hash text not null,
  primary key (chain, seq)
);

create table daemons (
  id text collate "C" not null primary key,
  host text not null,
  boot_id text not null,
  pid integer not null,
  version text not null,
  started_at bigint not null,
  lease_until bigint,
  stopped_at bigint
);

create table cordon (
  id integer not null primary key check (id = 1),
  cordoned_at bigint,
  cordoned_by text
);
insert into cordon (id) values (1);
