-- The file of a job that changes the configuration, and what it changes, for people.
create table config_orders (
  job_id text collate "C" not null primary key,
  file text collate "C" not null,
  changes text collate "C" not null
);
