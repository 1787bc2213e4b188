-- Which objects a configuration file manages, and what it last made of them.
create table config_objects (
  kind text not null,
  name text not null,
  config_set text not null,
  -- Of what the file said, without credentials: another one now was changed by hand.
  digest text not null,
  applied_at integer not null,
  primary key (kind, name)
) strict;
