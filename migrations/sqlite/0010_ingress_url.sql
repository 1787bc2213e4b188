-- Where the daemon answers hooks and decision links: who makes such a URL beside it can not know which port it got.
alter table daemons add column ingress_url text;
