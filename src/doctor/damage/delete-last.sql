delete from ledger where seq = (select max(seq) from ledger);
