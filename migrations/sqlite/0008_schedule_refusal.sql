-- Why the last slot of a schedule made no job, in a sentence: who looks at the schedule need not look into the ledger.
alter table schedules add column last_refusal text;
