-- Where links lead, and which targets of notifications a daemon has, decide who receives and gives a yes.
alter table daemons add column order_tag text;
alter table daemons add column order_key_id text;
