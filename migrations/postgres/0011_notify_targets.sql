-- The targets of --notify of each daemon: a link acts, and a page waits, while some daemon has its target.
alter table daemons add column notify_targets text;
alter table decision_links add column target text;
