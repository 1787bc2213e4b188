update ledger set seq = -seq - 1 where seq >= 7;
update ledger set seq = -seq where seq < 0;
insert into ledger select chain, 7, at, principal, owner, via, operation, target, detail, prev, hash, key_id from ledger where seq = 6;
update chains set length = length + 1;
