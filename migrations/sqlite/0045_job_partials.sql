-- The line that a running job has printed last and not ended: a question, a bar. Removed with the end of the line.
create table job_partials (
  job_id text not null primary key,
  stream text not null,
  data blob not null
) strict;
