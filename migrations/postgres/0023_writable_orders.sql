-- Jobs that may write outside their run: the only tagged orders that are not privileged. The doctor counts them.
create index jobs_writable on jobs (created_at) where order_tag is not null and privileged = 0;
