update ledger set operation = 'token.create' where seq = 7;
