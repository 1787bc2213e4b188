-- The end of a command on each host of its inventory.
create table host_results (
  job_id text collate "C" not null,
  host text collate "C" not null,
  status text not null check (status in ('ok','failed','unreachable')),
  rc bigint,
  stdout text not null,
  stderr text not null,
  primary key (job_id, host)
);
