-- The name by which people know a daemon, and the daemons that were cordoned alone.
alter table daemons add column node text;

create table node_cordons (
  node text not null primary key,
  cordoned_at integer not null,
  cordoned_by text not null
) strict;
