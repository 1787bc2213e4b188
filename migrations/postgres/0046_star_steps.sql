-- 1: a star with a step restricts no days by itself, as since this build; null in rows of earlier builds.
alter table schedules add column star_steps integer;
