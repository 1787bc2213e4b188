-- What the job does, in the words of its author, as it was asked about: under the tag of the approval.
alter table approvals add column summary text;
update approvals set summary = (select summary from jobs where jobs.id = approvals.job_id) where state = 'pending';
