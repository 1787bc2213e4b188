-- Ledger rows and privileged orders are authenticated with a key that is not in the database.
-- The key that a row was written with; null for rows of earlier builds.
alter table ledger add column key_id text;
-- Set once a chain takes keyed rows only.
alter table chains add column key_id text;
-- The ledger key of a daemon; null for daemons of earlier builds.
alter table daemons add column ledger_key_id text;
-- When the first daemon with a key started, and when every chain of earlier builds had its seam.
create table ledger_keying (id integer primary key check (id = 1), keyed_at integer not null, closed_at integer) strict;
-- A new store has nothing of an earlier build.
insert into ledger_keying (id, keyed_at, closed_at)
select 1, 0, 0 where not exists (select 1 from ledger) and not exists (select 1 from jobs);
-- The tag over a privileged order, and its key.
alter table jobs add column order_tag text;
alter table jobs add column order_key_id text;
alter table rules add column order_tag text;
alter table rules add column order_key_id text;
alter table schedules add column order_tag text;
alter table schedules add column order_key_id text;
