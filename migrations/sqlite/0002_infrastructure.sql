create table sources (
  name text not null primary key,
  kind text not null check (kind in ('git','dir')),
  location text not null,
  ref text,
  commit_id text,
  synced_at integer,
  created_at integer not null
) strict;

create table workspaces (
  name text not null primary key,
  source text,
  path text not null,
  approve_when text,
  deny_when text,
  require_saved_plan integer not null default 0,
  protect_destroy integer not null default 0,
  serial integer,
  lineage text,
  moved_by_job text,
  moved_via text,
  moved_at integer,
  drift text not null default 'unknown' check (drift in ('unknown','clean','drifted')),
  own_backend integer,
  secret_refs text not null default '[]',
  drift_checked_at integer,
  last_plan_job_id text,
  last_apply_job_id text,
  created_at integer not null
) strict;

create table states (
  workspace text not null,
  version integer not null,
  serial integer not null,
  lineage text not null,
  resources integer not null,
  job_id text,
  sealed blob not null,
  key_id text not null,
  created_at integer not null,
  primary key (workspace, version)
) strict;

create index states_by_key on states (key_id);

create table artifacts (
  id text not null primary key,
  workspace text not null,
  job_id text not null,
  serial integer not null,
  lineage text not null,
  tree_digest text not null,
  needs_init integer not null,
  own_backend integer not null,
  secrets text not null,
  verdict text check (verdict in ('clean','require_approval','deny')),
  verdict_reason text,
  destroys integer not null,
  changes integer not null,
  creates integer not null,
  summary text not null,
  sealed blob not null,
  digest text not null,
  sealed_view blob not null,
  key_id text not null,
  created_at integer not null,
  consumed_by text
) strict;
create index artifacts_by_workspace on artifacts (workspace, id);
create index artifacts_by_key on artifacts (key_id);

create table approvals (
  id text not null primary key,
  job_id text not null,
  kind text not null,
  state text not null check (state in ('pending','approved','rejected','expired')),
  policy text not null,
  workspace text,
  runbook text not null,
  plan_artifact_id text,
  plan_digest text,
  plan_serial integer,
  requested_by text not null,
  owners text not null,
  origin text not null check (origin in ('alert','manual','schedule')),
  alert text,
  rule text,
  matched_at integer,
  created_at integer not null,
  expires_at integer not null,
  decided_at integer,
  decided_by text,
  decided_via text,
  reason text
) strict;
create unique index approvals_by_job on approvals (job_id);
create unique index approvals_one_pending_per_artifact on approvals (plan_artifact_id) where state = 'pending' and plan_artifact_id is not null;
create index approvals_pending on approvals (expires_at) where state = 'pending';

create table decision_links (
  hash text not null primary key,
  approval_id text not null,
  decision text not null check (decision in ('approve','reject')),
  recipient text not null,
  made_by text not null,
  created_at integer not null
) strict;
create index decision_links_by_approval on decision_links (approval_id);

create table secrets (
  project text not null,
  name text not null,
  version integer not null,
  sealed blob not null,
  key_id text not null,
  created_at integer not null,
  updated_at integer not null,
  primary key (project, name)
) strict, without rowid;

create table seal (
  id integer not null primary key check (id = 1),
  key_id text not null,
  created_at integer not null
) strict;

create table events (
  id text not null primary key,
  source text not null,
  name text,
  status text,
  netgroup text,
  severity text,
  fingerprint text,
  labels text not null,
  outcome text not null,
  reason text not null,
  rule text,
  job_id text,
  approval_id text,
  received_at integer not null
) strict;
