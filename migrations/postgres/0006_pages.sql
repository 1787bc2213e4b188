-- What a page is counted with when many come at once: null for one that is always shown on its own.
alter table pages add column burst text collate "C";
drop index pages_new;
create index pages_new on pages (id) where state = 'new' and burst is null;
create index pages_waiting on pages (burst, created_at, id) where state = 'new' and burst is not null;
create index pages_shown on pages (burst, created_at, kind) where state <> 'new' and reason is null and burst is not null;
