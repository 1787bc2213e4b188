-- Which objects a configuration file manages, and what it last made of them.
create table config_objects (
  kind text collate "C" not null,
  name text collate "C" not null,
  config_set text collate "C" not null,
  -- Of what the file said, without credentials: another one now was changed by hand.
  digest text collate "C" not null,
  applied_at bigint not null,
  primary key (kind, name)
);
