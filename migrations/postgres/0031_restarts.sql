-- What each daemon runs, and its restart in place, by the name of the daemon.
create table restarts (
  node text collate "C" not null primary key,
  daemon_id text collate "C" not null,
  program text collate "C" not null,
  digest text collate "C",
  state text collate "C" not null check (state in ('idle', 'requested', 'draining', 'executing', 'aborted')),
  forced bigint not null,
  cordoned bigint not null,
  requested_at bigint,
  drain_deadline bigint,
  finished_at bigint,
  wanted_digest text collate "C",
  reason text collate "C"
);
