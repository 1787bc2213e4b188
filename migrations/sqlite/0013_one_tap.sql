-- What one tap may approve: a link that needs no form, and a command whose rule allows it.
alter table decision_links add column one_tap integer not null default 0;
alter table rules add column one_tap integer not null default 0;
alter table approvals add column one_tap integer not null default 0;
