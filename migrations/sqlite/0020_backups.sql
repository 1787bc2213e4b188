-- The backups of this store that were made and read to their end. Their files are in the directory of backups.
create table backups (
  id text not null primary key,
  job_id text not null,
  name text not null,
  file text not null,
  host text not null,
  created_at integer not null,
  size_bytes integer not null,
  sha256 text not null,
  verified_at integer,
  removed_at integer
) strict;

-- When the key file was last written elsewhere, and which key sealed then.
alter table seal add column exported_at integer;
alter table seal add column exported_key_id text;
