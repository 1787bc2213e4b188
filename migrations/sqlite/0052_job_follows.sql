-- Who ordered the job follows it until then, unless the row is renewed: its failure notifies quietly.
create table job_follows (
  job_id text not null primary key,
  until integer not null
) strict, without rowid;
