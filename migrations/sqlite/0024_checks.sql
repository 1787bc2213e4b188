-- Checks with their targets and the state of each, and the named sets of networks.
create table checks (
  name text not null primary key,
  kind text not null,
  interval_ms integer not null,
  enabled integer not null default 1,
  options text not null,
  created_at integer not null,
  updated_at integer not null,
  revision integer not null
) strict;

create table check_targets (
  check_name text not null,
  name text not null,
  position integer not null,
  spec text not null,
  credentials blob,
  key_id text,
  status text not null default 'unknown' check (status in ('unknown','up','down')),
  duration_ms integer,
  detail text,
  certificate_days integer,
  last_change integer,
  pending text,
  snoozed_until integer,
  primary key (check_name, name)
) strict;
create index check_targets_sealed on check_targets (key_id) where key_id is not null;

create table netgroups (
  id text not null primary key,
  name text not null unique,
  prefixes text not null,
  excludes text not null,
  created_at integer not null,
  updated_at integer not null
) strict;
