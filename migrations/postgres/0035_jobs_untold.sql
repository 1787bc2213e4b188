-- Written with the states, the condition of this index was half of what an insert or update of a job costs in SQLite,
-- which makes a temporary table for a list of more than two values. A job that has ended has the time of its end.
update jobs set finished_at = coalesce(started_at, created_at)
  where finished_at is null and outcome_event_id is null
  and state in ('succeeded','failed','degraded','cancelled','interrupted');
drop index jobs_untold;
create index jobs_untold on jobs (id) where finished_at is not null and outcome_event_id is null;
