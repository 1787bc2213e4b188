-- How many messages of a webhook were refused within an hour, and why.
create table webhook_refusals (
  webhook text not null,
  hour integer not null,
  reason text not null,
  count integer not null,
  primary key (webhook, hour, reason)
) strict, without rowid;
