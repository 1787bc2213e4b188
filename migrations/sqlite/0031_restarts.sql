-- What each daemon runs, and its restart in place, by the name of the daemon.
create table restarts (
  node text not null primary key,
  daemon_id text not null,
  program text not null,
  digest text,
  state text not null check (state in ('idle', 'requested', 'draining', 'executing', 'aborted')),
  forced integer not null,
  cordoned integer not null,
  requested_at integer,
  drain_deadline integer,
  finished_at integer,
  wanted_digest text,
  reason text
) strict;
