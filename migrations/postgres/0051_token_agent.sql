-- Whose token it is: null of a person; else of a program, '*', or a JSON list of what it may write.
alter table tokens add column agent text collate "C";
