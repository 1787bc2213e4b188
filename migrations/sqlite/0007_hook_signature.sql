-- Whether a webhook takes signed messages only.
alter table webhooks add column signed integer not null default 0;
-- What the messages of a signed webhook are signed with, sealed.
create table webhook_keys (
  webhook text not null primary key,
  sealed blob not null,
  key_id text not null
) strict;
-- Signatures that were taken, while a repeat of them would still be within its time.
create table webhook_signatures (
  webhook text not null,
  signature text not null,
  message text not null,
  signed_at integer not null,
  primary key (webhook, signature)
) strict, without rowid;
create index webhook_signatures_by_age on webhook_signatures (signed_at);
