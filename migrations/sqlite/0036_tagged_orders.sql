-- Every row that is an order, or that a path is taken from, has a tag over it and the id of the tag's key.
alter table approvals add column order_tag text;
alter table approvals add column order_key_id text;
alter table workspaces add column order_tag text;
alter table workspaces add column order_key_id text;
alter table sources add column order_tag text;
alter table sources add column order_key_id text;
alter table inventories add column order_tag text;
alter table inventories add column order_key_id text;
-- 1 for a daemon that tags all of them; null for daemons of earlier builds.
alter table daemons add column tags_orders integer;
-- When the rows of earlier builds had their tags. A new store has none of them.
alter table ledger_keying add column orders_adopted_at integer;
update ledger_keying set orders_adopted_at = 0
  where not exists (select 1 from ledger) and not exists (select 1 from jobs);
-- Jobs that may write outside their run: the tag does not tell any more which they are. The doctor counts them.
alter table jobs add column writable integer not null default 0;
update jobs set writable = 1 where order_tag is not null and privileged = 0;
drop index jobs_writable;
create index jobs_writable on jobs (created_at) where writable = 1;
