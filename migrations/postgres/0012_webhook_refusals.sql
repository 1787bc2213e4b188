-- How many messages of a webhook were refused within an hour, and why.
create table webhook_refusals (
  webhook text collate "C" not null,
  hour bigint not null,
  reason text collate "C" not null,
  count bigint not null,
  primary key (webhook, hour, reason)
);
