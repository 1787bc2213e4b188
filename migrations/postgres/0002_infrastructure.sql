create table sources (
  name text collate "C" not null primary key,
  kind text not null check (kind in ('git','dir')),
  location text not null,
  ref text,
  commit_id text,
  synced_at bigint,
  created_at bigint not null
);

create table workspaces (
  name text collate "C" not null primary key,
  source text,
  path text not null,
  approve_when text,
  deny_when text,
  require_saved_plan integer not null default 0,
  protect_destroy integer not null default 0,
  serial bigint,
  lineage text,
  moved_by_job text,
  moved_via text,
  moved_at bigint,
  drift text not null default 'unknown' check (drift in ('unknown','clean','drifted')),
  own_backend integer,
  secret_refs text not null default '[]',
  drift_checked_at bigint,
  last_plan_job_id text,
  last_apply_job_id text,
  created_at bigint not null
);

create table states (
  workspace text collate "C" not null,
  version integer not null,
  serial bigint not null,
  lineage text not null,
  resources integer not null,
  job_id text,
  sealed bytea not null,
  key_id text not null,
  created_at bigint not null,
  primary key (workspace, version)
);

create index states_by_key on states (key_id);

create table artifacts (
  id text collate "C" not null primary key,
  workspace text collate "C" not null,
  job_id text not null,
  serial bigint not null,
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
  sealed bytea not null,
  digest text not null,
  sealed_view bytea not null,
  key_id text not null,
  created_at bigint not null,
  consumed_by text
);
create index artifacts_by_workspace on artifacts (workspace, id);
create index artifacts_by_key on artifacts (key_id);

create table approvals (
  id text collate "C" not null primary key,
  job_id text not null,
  kind text not null,
  state text not null check (state in ('pending','approved','rejected','expired')),
  policy text not null,
  workspace text collate "C",
  runbook text not null,
  plan_artifact_id text,
  plan_digest text,
  plan_serial bigint,
  requested_by text not null,
  owners text not null,
  origin text not null check (origin in ('alert','manual','schedule')),
  alert text,
  rule text,
  matched_at bigint,
  created_at bigint not null,
  expires_at bigint not null,
  decided_at bigint,
  decided_by text,
  decided_via text,
  reason text
);
create unique index approvals_by_job on approvals (job_id);
create unique index approvals_one_pending_per_artifact on approvals (plan_artifact_id) where state = 'pending' and plan_artifact_id is not null;
create index approvals_pending on approvals (expires_at) where state = 'pending';

create table decision_links (
  hash text collate "C" not null primary key,
  approval_id text collate "C" not null,
  decision text not null check (decision in ('approve','reject')),
  recipient text not null,
  made_by text not null,
  created_at bigint not null
);
create index decision_links_by_approval on decision_links (approval_id);

create table secrets (
  project text collate "C" not null,
  name text collate "C" not null,
  version integer not null,
  sealed bytea not null,
  key_id text not null,
  created_at bigint not null,
  updated_at bigint not null,
  primary key (project, name)
);

create table seal (
  id integer not null primary key check (id = 1),
  key_id text not null,
  created_at bigint not null
);

create table events (
  id text collate "C" not null primary key,
  source text not null,
  name text collate "C",
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
  received_at bigint not null
);
