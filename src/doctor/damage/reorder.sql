update ledger set seq = -1 where seq = 7;
update ledger set seq = 7 where seq = 8;
update ledger set seq = 8 where seq = -1;
