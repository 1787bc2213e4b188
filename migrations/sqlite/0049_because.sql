-- Why it was asked for, in the words of who asked: for who decides about it, and for who looks back.
alter table jobs add column because text;
alter table approvals add column because text;
alter table workflow_runs add column because text;
