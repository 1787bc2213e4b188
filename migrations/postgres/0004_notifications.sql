create table endpoints (
  id text collate "C" not null primary key,
  token_id text collate "C" not null,
  owner text not null,
  endpoint text not null,
  label text,
  p256dh text,
  auth text,
  created_at bigint not null,
  sent_at bigint,
  failed_at bigint,
  failure text,
  failures integer not null default 0
);
create index endpoints_by_token on endpoints (token_id, id);

create table armed_jobs (
  job_id text collate "C" not null primary key,
  armed_by text not null,
  owner text not null,
  armed_at bigint not null,
  done_at bigint
);
create index armed_jobs_open on armed_jobs (job_id) where done_at is null;

create table pages (
  id text collate "C" not null primary key,
  topic text collate "C" not null,
  kind text collate "C" not null,
  state text collate "C" not null check (state in ('new','sending','held','done')),
  job_id text collate "C",
  approval_id text collate "C",
  detail text not null,
  reason text,
  followed integer not null default 0,
  created_at bigint not null
);
create unique index pages_by_topic on pages (topic);
create index pages_new on pages (id) where state = 'new';
create index pages_to_follow on pages (approval_id) where kind = 'approval' and followed = 0;
create index pages_by_kind on pages (kind, created_at);

create table deliveries (
  page_id text collate "C" not null,
  target text collate "C" not null,
  state text collate "C" not null check (state in ('waiting','sent','dead','gone')),
  daemon_id text collate "C" not null,
  attempts integer not null default 0,
  next_at bigint not null,
  failure text,
  settled_at bigint,
  primary key (page_id, target)
);
create index deliveries_due on deliveries (next_at) where state = 'waiting';
create index deliveries_by_target on deliveries (target) where state = 'waiting';
create index deliveries_dead on deliveries (settled_at) where state = 'dead';

create table deadmen (
  name text collate "C" not null primary key,
  webhook text not null,
  every_ms bigint not null,
  added_by text not null,
  created_at bigint not null,
  tripped_at bigint
);
