create table jobs (
  id text not null primary key,
  kind text not null,
  state text not null check (state in ('awaiting_approval','queued','running','succeeded','failed','degraded','cancelled','interrupted')),
  initial_state text not null check (initial_state in ('queued','awaiting_approval')),
  runbook text not null,
  source text,
  trigger text not null,
  workspace text,
  concurrency_key text,
  blocked integer not null default 0,
  privileged integer not null default 0,
  created_at integer not null,
  started_at integer,
  finished_at integer,
  expires_at integer,
  exit_code integer,
  requested_by text not null,
  owners text not null,
  redrive_of text,
  plan_artifact_id text,
  spec text not null,
  timeout_ms integer not null,
  progress text,
  daemon_id text,
  lease_generation integer not null default 0,
  leader_pid integer,
  leader_start integer,
  cancel_requested_at integer
) strict;
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
  job_id text not null,
  first_seq integer not null,
  last_seq integer not null,
  at integer not null,
  raw_bytes integer not null,
  data blob not null,
  primary key (job_id, first_seq)
) strict;

create table tokens (
  id text not null primary key,
  name text not null,
  owner text not null,
  scope text not null check (scope in ('readonly','operator','approve','host')),
  salt blob not null,
  hash blob not null,
  version integer not null,
  created_at integer not null,
  expires_at integer,
  revoked_at integer
) strict;
create unique index tokens_by_active_name on tokens (name) where revoked_at is null;

create table sessions (
  id text not null primary key,
  token_id text not null references tokens (id),
  csrf text not null,
  created_at integer not null,
  expires_at integer not null
) strict;

create table idempotency (
  holder text not null,
  key text not null,
  status integer not null,
  kind text not null,
  data text not null,
  created_at integer not null,
  primary key (holder, key)
) strict, without rowid;

create table chains (
  id text not null primary key,
  length integer not null,
  head text not null
) strict;

create table ledger (
  chain text not null,
  seq integer not null,
  at integer not null,
  principal text not null,
  owner text not null,
  via text not null,
  operation text not null,
  target text,
  detail text not null,
  prev text not null,
  hash text not null,
  primary key (chain, seq)
) strict, without rowid;

create table daemons (
  id text not null primary key,
  host text not null,
  boot_id text not null,
  pid integer not null,
  version text not null,
  started_at integer not null,
  lease_until integer,
  stopped_at integer
) strict;

create table cordon (
  id integer not null primary key check (id = 1),
  cordoned_at integer,
  cordoned_by text
) strict;
insert into cordon (id) values (1);
