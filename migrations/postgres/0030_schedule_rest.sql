-- The workspace at which a drift check of all stopped, so that the next write goes on behind it; null once all are queued.
alter table schedules add column rest_after text;
create index schedules_with_rest on schedules (name) where rest_after is not null;
