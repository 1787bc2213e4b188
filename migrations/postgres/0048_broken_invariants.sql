-- The doctor reads these few rows of a ledger that may have millions of others.
create index ledger_broken on ledger (at) where operation = 'invariant.broken';
