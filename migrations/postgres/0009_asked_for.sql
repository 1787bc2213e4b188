-- The schedule whose slot asks: who decides has to tell one nightly command from the other.
alter table approvals add column schedule text;
