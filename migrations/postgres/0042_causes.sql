-- Who changed what an event depends on, such as its check: they are in the asking chain of what the event starts.
-- `position` is higher for a later change of the same subject; `seen` is 1 once an event of the subject came after it.
create table causes (
  subject text not null,
  owner text not null,
  position bigint not null,
  seen integer not null,
  primary key (subject, owner)
);
