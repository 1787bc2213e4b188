alter table events add column annotations text not null default '{}';
alter table events add column check_observations text;
alter table events add column trace text not null default '[]';
alter table events add column depth integer not null default 0;
create index events_by_source on events (source, id);
create index events_by_outcome on events (outcome, id);
create index events_by_job on events (job_id) where job_id is not null;

create table event_counts (
  chain text collate "C" not null,
  outcome text collate "C" not null,
  count bigint not null,
  primary key (chain, outcome)
);

create table webhooks (
  name text collate "C" not null primary key,
  source text not null,
  hash text not null,
  created_at bigint not null,
  last_heard_at bigint
);
create unique index webhooks_by_hash on webhooks (hash);

create table rules (
  name text collate "C" not null primary key,
  enabled integer not null default 1,
  when_text text not null,
  cooldown_ms bigint,
  approval text not null check (approval in ('none','required')),
  approval_ttl_ms bigint,
  action text not null,
  owners text not null,
  added_by text not null,
  version integer not null default 1,
  created_at bigint not null,
  updated_at bigint not null,
  last_fired_at bigint
);

create table rule_fires (
  rule text collate "C" not null,
  fingerprint text collate "C" not null,
  status text collate "C" not null,
  fired_at bigint not null,
  job_id text,
  primary key (rule, fingerprint, status)
);

create table silences (
  id text collate "C" not null primary key,
  rule text collate "C",
  when_text text,
  reason text not null,
  created_by text not null,
  created_at bigint not null,
  expires_at bigint not null,
  ended_at bigint
);
create index silences_open on silences (expires_at) where ended_at is null;

create table mutes (
  id text collate "C" not null primary key,
  scope_kind text not null check (scope_kind in ('alert','host','global')),
  scope_value text,
  reason text,
  created_via text not null,
  created_by text not null,
  created_at bigint not null,
  expires_at bigint not null,
  ended_at bigint
);
create index mutes_open on mutes (expires_at) where ended_at is null;

create table schedules (
  name text collate "C" not null primary key,
  cron text not null,
  timezone text not null,
  enabled integer not null default 1,
  action text not null,
  runbook text not null,
  approval text not null check (approval in ('none','required')),
  approval_ttl_ms bigint,
  owners text not null,
  added_by text not null,
  next_at bigint,
  last_at bigint,
  last_job_id text,
  created_at bigint not null
);
create index schedules_due on schedules (next_at) where enabled = 1 and next_at is not null;
