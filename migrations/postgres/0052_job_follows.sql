-- Who ordered the job follows it until then, unless the row is renewed: its failure notifies quietly.
create table job_follows (
  job_id text collate "C" not null primary key,
  until bigint not null
);
