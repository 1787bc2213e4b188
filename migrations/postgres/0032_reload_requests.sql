-- A request of the command line on the machine to read the settings again, and what the daemon has answered.
alter table restarts add column reload_requested_at bigint;
alter table restarts add column reload_answer text collate "C";
