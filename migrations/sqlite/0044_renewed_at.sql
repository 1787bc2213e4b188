-- When a daemon last renewed its lease: the list of daemons says the same on each face.
alter table daemons add column renewed_at integer;
