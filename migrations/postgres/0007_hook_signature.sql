-- Whether a webhook takes signed messages only.
alter table webhooks add column signed integer not null default 0;
-- What the messages of a signed webhook are signed with, sealed.
create table webhook_keys (
  webhook text collate "C" not null primary key,
  sealed bytea not null,
  key_id text collate "C" not null
);
-- Signatures that were taken, while a repeat of them would still be within its time.
create table webhook_signatures (
  webhook text collate "C" not null,
  signature text collate "C" not null,
  message text collate "C" not null,
  signed_at bigint not null,
  primary key (webhook, signature)
);
create index webhook_signatures_by_age on webhook_signatures (signed_at);
