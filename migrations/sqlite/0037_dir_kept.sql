-- JSON: what the directory of a source or of a workspace was, on each machine, when a person named it.
alter table sources add column dir_kept text;
alter table workspaces add column dir_kept text;
