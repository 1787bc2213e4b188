-- What playbook runs reported, for the pages: the tasks of a run, and its hosts in blocks.
create table playbook_runs (
  job_id text collate "C" not null primary key,
  hosts bigint not null,
  hosts_cut bigint not null,
  tasks bigint not null,
  tasks_cut bigint not null,
  data bytea not null
);

create table playbook_hosts (
  job_id text collate "C" not null,
  first bigint not null,
  data bytea not null,
  primary key (job_id, first)
);

-- Whether Ansible may load the plugins of the source.
alter table sources add column plugins integer not null default 0;
