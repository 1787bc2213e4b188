-- Whether a target was ever up: one that was down from its first probe on has no event.
alter table check_targets add column was_up integer not null default 0;
update check_targets set was_up = 1
where status = 'up'
  or exists (
    select 1 from check_days
    where check_days.check_name = check_targets.check_name and check_days.name = check_targets.name and check_days.up > 0
  );
