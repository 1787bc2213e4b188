-- What a job does, in the words of who wrote it; null where nobody did.
alter table jobs add column summary text;
alter table rules add column summary text;
alter table schedules add column summary text;
