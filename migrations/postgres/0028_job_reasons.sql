-- Why a job failed, was cancelled or was interrupted, in words; and the job that it repeats at the request of a person.
alter table jobs add column reason text;
alter table jobs add column rerun_of text collate "C";

create index jobs_by_rerun on jobs (rerun_of) where rerun_of is not null;
