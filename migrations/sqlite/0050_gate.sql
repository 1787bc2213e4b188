-- Which runs need an approval: what somebody set for an inventory or a source, null where it is not set.
alter table inventories add column approve_runs text;
alter table inventories add column except_check integer;
alter table sources add column approve_runs text;
alter table sources add column except_check integer;
-- 1: a strict service takes a fresh apply and a destroy of it, as far as its other switches let them through.
alter table workspaces add column unprotected integer;
-- The same for the whole service and for this machine: at most one row, made with the first setting.
create table gate (
  id integer primary key check (id = 1),
  strict integer not null,
  set_at integer not null,
  set_by text not null,
  localhost_runs text,
  localhost_except_check integer,
  order_tag text,
  order_key_id text
);
-- The doctor compares the row with what the ledger says last.
create index ledger_gate on ledger (at) where operation = 'gate.strict';
