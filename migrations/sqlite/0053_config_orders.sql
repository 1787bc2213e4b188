-- The file of a job that changes the configuration, and what it changes, for people.
create table config_orders (
  job_id text not null primary key,
  file text not null,
  changes text not null
) strict, without rowid;
