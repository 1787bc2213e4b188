-- Checks with their targets and the state of each, and the named sets of networks.
create table checks (
  name text collate "C" not null primary key,
  kind text not null,
  interval_ms bigint not null,
  enabled bigint not null default 1,
  options text not null,
  created_at bigint not null,
  updated_at bigint not null,
  revision bigint not null
);

create table check_targets (
  check_name text collate "C" not null,
  name text collate "C" not null,
  position bigint not null,
  spec text not null,
  credentials bytea,
  key_id text collate "C",
  status text not null default 'unknown' check (status in ('unknown','up','down')),
  duration_ms bigint,
  detail text,
  certificate_days bigint,
  last_change bigint,
  pending text,
  snoozed_until bigint,
  primary key (check_name, name)
);
create index check_targets_sealed on check_targets (key_id) where key_id is not null;

create table netgroups (
  id text collate "C" not null primary key,
  name text collate "C" not null unique,
  prefixes text not null,
  excludes text not null,
  created_at bigint not null,
  updated_at bigint not null
);
