-- The end of a command on each host of its inventory.
create table host_results (
  job_id text not null,
  host text not null,
  status text not null check (status in ('ok','failed','unreachable')),
  rc integer,
  stdout text not null,
  stderr text not null,
  primary key (job_id, host)
) strict;
