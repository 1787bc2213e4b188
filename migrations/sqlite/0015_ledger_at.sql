-- The ledger is listed by time over all of its chains.
create index ledger_at on ledger (at, chain, seq);
