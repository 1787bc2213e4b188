-- The daemon that has to run a job; null where any may. The jobs that may be claimed are found by it.
alter table jobs add column node text;
drop index jobs_ready;
create index jobs_ready on jobs (node, id) where state = 'queued' and blocked = 0;
