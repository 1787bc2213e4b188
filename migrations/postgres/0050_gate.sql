-- Which runs need an approval: what somebody set for an inventory or a source, null where it is not set.
alter table inventories add column approve_runs text collate "C";
alter table inventories add column except_check bigint;
alter table sources add column approve_runs text collate "C";
alter table sources add column except_check bigint;
-- 1: a strict service takes a fresh apply and a destroy of it, as far as its other switches let them through.
alter table workspaces add column unprotected bigint;
-- The same for the whole service and for this machine: at most one row, made with the first setting.
create table gate (
  id integer not null primary key check (id = 1),
  strict bigint not null,
  set_at bigint not null,
  set_by text collate "C" not null,
  localhost_runs text collate "C",
  localhost_except_check bigint,
  order_tag text collate "C",
  order_key_id text collate "C"
);
-- The doctor compares the row with what the ledger says last.
create index ledger_gate on ledger (at) where operation = 'gate.strict';
