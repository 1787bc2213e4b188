-- 1: the values of events in the rule's command are bounded as since this build; null in rows of earlier builds.
alter table rules add column bounded_values integer;
