-- What the sweep of checks keeps: the history of each target, and which daemon probes which targets.
create table check_days (
  check_name text not null,
  name text not null,
  day integer not null,
  up integer not null,
  down integer not null,
  missed integer not null,
  slots blob,
  primary key (check_name, name, day)
) strict;
create index check_days_by_day on check_days (day);
create index check_days_detailed on check_days (day) where slots is not null;

create table check_sweepers (
  daemon_id text not null primary key,
  lease_until integer,
  reported_at integer,
  report text
) strict;

create table check_shards (
  shard integer not null primary key,
  daemon_id text,
  lease_until integer not null default 0
) strict;
