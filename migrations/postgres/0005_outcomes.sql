-- The event of a job's end: null while it is not made yet. Jobs that ended before there were such events have none.
alter table jobs add column outcome_event_id text;
update jobs set outcome_event_id = '' where state in ('succeeded','failed','degraded','cancelled','interrupted');
create index jobs_untold on jobs (id)
  where outcome_event_id is null and state in ('succeeded','failed','degraded','cancelled','interrupted');
-- Of a drift run that found something to tell: the status of its event.
alter table jobs add column drift_status text;
