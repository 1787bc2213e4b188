delete from ledger where seq = 7;
