-- What playbook runs reported, for the pages: the tasks of a run, and its hosts in blocks.
create table playbook_runs (
  job_id text not null primary key,
  hosts integer not null,
  hosts_cut integer not null,
  tasks integer not null,
  tasks_cut integer not null,
  data blob not null
) strict;

create table playbook_hosts (
  job_id text not null,
  first integer not null,
  data blob not null,
  primary key (job_id, first)
) strict;

-- Whether Ansible may load the plugins of the source.
alter table sources add column plugins integer not null default 0;
