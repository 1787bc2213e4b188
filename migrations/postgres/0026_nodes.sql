-- The name by which people know a daemon, and the daemons that were cordoned alone.
alter table daemons add column node text collate "C";

create table node_cordons (
  node text collate "C" not null primary key,
  cordoned_at bigint not null,
  cordoned_by text collate "C" not null
);
