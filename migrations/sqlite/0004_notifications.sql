create table endpoints (
  id text not null primary key,
  token_id text not null,
  owner text not null,
  endpoint text not null,
  label text,
  p256dh text,
  auth text,
  created_at integer not null,
  sent_at integer,
  failed_at integer,
  failure text,
  failures integer not null default 0
) strict;
create index endpoints_by_token on endpoints (token_id, id);

create table armed_jobs (
  job_id text not null primary key,
  armed_by text not null,
  owner text not null,
  armed_at integer not null,
  done_at integer
) strict;
create index armed_jobs_open on armed_jobs (job_id) where done_at is null;

create table pages (
  id text not null primary key,
  topic text not null,
  kind text not null,
  state text not null check (state in ('new','sending','held','done')),
  job_id text,
  approval_id text,
  detail text not null,
  reason text,
  followed integer not null default 0,
  created_at integer not null
) strict;
create unique index pages_by_topic on pages (topic);
create index pages_new on pages (id) where state = 'new';
create index pages_to_follow on pages (approval_id) where kind = 'approval' and followed = 0;
create index pages_by_kind on pages (kind, created_at);

create table deliveries (
  page_id text not null,
  target text not null,
  state text not null check (state in ('waiting','sent','dead','gone')),
  daemon_id text not null,
  attempts integer not null default 0,
  next_at integer not null,
  failure text,
  settled_at integer,
  primary key (page_id, target)
) strict, without rowid;
create index deliveries_due on deliveries (next_at) where state = 'waiting';
create index deliveries_by_target on deliveries (target) where state = 'waiting';
create index deliveries_dead on deliveries (settled_at) where state = 'dead';

create table deadmen (
  name text not null primary key,
  webhook text not null,
  every_ms integer not null,
  added_by text not null,
  created_at integer not null,
  tripped_at integer
) strict;
