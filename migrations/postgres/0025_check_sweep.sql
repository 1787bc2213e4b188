-- What the sweep of checks keeps: the history of each target, and which daemon probes which targets.
create table check_days (
  check_name text collate "C" not null,
  name text collate "C" not null,
  day bigint not null,
  up bigint not null,
  down bigint not null,
  missed bigint not null,
  slots bytea,
  primary key (check_name, name, day)
);
create index check_days_by_day on check_days (day);
create index check_days_detailed on check_days (day) where slots is not null;

create table check_sweepers (
  daemon_id text collate "C" not null primary key,
  lease_until bigint,
  reported_at bigint,
  report text
);

create table check_shards (
  shard bigint not null primary key,
  daemon_id text collate "C",
  lease_until bigint not null default 0
);
