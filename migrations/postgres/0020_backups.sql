-- The backups of this store that were made and read to their end. Their files are in the directory of backups.
create table backups (
  id text collate "C" not null primary key,
  job_id text collate "C" not null,
  name text collate "C" not null,
  file text collate "C" not null,
  host text collate "C" not null,
  created_at bigint not null,
  size_bytes bigint not null,
  sha256 text collate "C" not null,
  verified_at bigint,
  removed_at bigint
);

-- When the key file was last written elsewhere, and which key sealed then.
alter table seal add column exported_at bigint;
alter table seal add column exported_key_id text collate "C";
