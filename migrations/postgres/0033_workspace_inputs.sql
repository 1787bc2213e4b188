-- What every run of a workspace gets: variables, files of variables and secrets.
alter table workspaces add column inputs text collate "C" not null default '{}';
