-- Hosts by name: what was read of an inventory file, and the keys by which its hosts are known.
create table inventories (
  name text not null primary key,
  model text not null,
  digest text not null,
  hosts integer not null,
  groups integer not null,
  ssh_key text,
  created_at integer not null,
  updated_at integer not null
) strict;

create table host_keys (
  inventory text not null,
  host text not null,
  type text not null,
  key text not null,
  added_at integer not null,
  added_by text not null,
  primary key (inventory, host, type)
) strict;
