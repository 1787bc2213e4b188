-- Jobs that wait for approval and whose files were not read yet: a daemon on a machine that has them reads them.
create table unread_files (
  job_id text collate "C" not null primary key
);
