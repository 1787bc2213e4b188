-- Hosts by name: what was read of an inventory file, and the keys by which its hosts are known.
create table inventories (
  name text collate "C" not null primary key,
  model text not null,
  digest text not null,
  hosts bigint not null,
  groups bigint not null,
  ssh_key text,
  created_at bigint not null,
  updated_at bigint not null
);

create table host_keys (
  inventory text collate "C" not null,
  host text collate "C" not null,
  type text collate "C" not null,
  key text not null,
  added_at bigint not null,
  added_by text not null,
  primary key (inventory, host, type)
);
