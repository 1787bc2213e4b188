-- What a request was about besides its order, as it was when it was asked for: the commit of its source, digests of
-- settings. Under the tag of the job; null where nothing was pinned.
alter table jobs add column pinned text;
