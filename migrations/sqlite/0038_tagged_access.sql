-- What lets a person or a sender in, and what a later step, apply or backup takes from an earlier one, has a tag too.
alter table tokens add column order_tag text;
alter table tokens add column order_key_id text;
alter table sessions add column order_tag text;
alter table sessions add column order_key_id text;
alter table decision_links add column order_tag text;
alter table decision_links add column order_key_id text;
alter table webhooks add column order_tag text;
alter table webhooks add column order_key_id text;
alter table workflow_steps add column order_tag text;
alter table workflow_steps add column order_key_id text;
alter table artifacts add column order_tag text;
alter table artifacts add column order_key_id text;
alter table backups add column order_tag text;
alter table backups add column order_key_id text;
alter table endpoints add column order_tag text;
alter table endpoints add column order_key_id text;
-- A store whose orders have their tags already has rows of these tables without one.
update ledger_keying set orders_adopted_at = null
  where exists (select 1 from tokens) or exists (select 1 from webhooks) or exists (select 1 from backups);
