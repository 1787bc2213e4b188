/** What the ends of jobs leave in the store beside their rows. */
import { DatabaseSync } from 'node:sqlite';
import { encodeChunk } from '../../src/lib/chunks/chunk.ts';
import { rfc3339 } from '../../src/lib/clock.ts';
import { TEST_RING } from '../../test/support/seal.ts';

/** Of a job without output: when it was claimed and when it ended. */
const CHUNKS = `insert into job_chunks (job_id, first_seq, last_seq, at, raw_bytes, data)
  select j.id, n.seq, n.seq, iif(n.seq = 2, j.started_at, j.finished_at), 0, iif(n.seq = 2, :claimed, :ended)
  from jobs j cross join (select 2 as seq union all select 3) n
  where j.finished_at is not null order by j.rowid, n.seq`;

/** Its request, claim and end in the audit ledger. Nothing verifies the hashes, so only their size matters. */
const LEDGER = `insert into ledger
    (chain, seq, at, principal, owner, via, operation, target, detail, prev, hash, key_id)
  select 'main', (j.rowid - 1) * 3 + n.nth,
    case n.nth when 1 then j.created_at when 2 then j.started_at else j.finished_at end,
    iif(n.nth = 1, 'ci', 'daemon:dmn_old'), iif(n.nth = 1, 'ci', 'gatehouse'), iif(n.nth = 1, 'http', 'daemon'),
    case n.nth when 1 then 'command.run' when 2 then 'job.start' else 'job.end' end, j.id,
    iif(n.nth = 3, :detail, '{}'), lower(hex(randomblob(32))), lower(hex(randomblob(32))), :key
  from jobs j cross join (select 1 as nth union all select 2 union all select 3) n
  where j.finished_at is not null order by j.rowid, n.nth`;

const CHAIN = `insert into chains (id, length, head, key_id)
  select 'main', count(*) * 3, lower(hex(randomblob(32))), :key from jobs where finished_at is not null`;

/** The event of its end, which no rule matched. */
const EVENTS = `insert into events
    (id, source, name, status, severity, fingerprint, labels, outcome, reason, received_at, annotations, trace)
  select 'evt' || substr(id, 4), 'job-outcome', runbook, 'resolved', 'info', 'job:' || runbook,
    json_object('job_id', id, 'kind', kind, 'state', state), 'ignored', 'No rule matched this event.', finished_at,
    '{}', '[]'
  from jobs where finished_at is not null order by rowid`;
const MARKS = `update jobs set outcome_event_id = 'evt' || substr(id, 4) where finished_at is not null`;

/** Adds these rows for all jobs of a file that has only ended jobs, and none of these rows. */
export function addHistory(file: string): void {
  const at = rfc3339(Date.now());
  const claimed = encodeChunk([{ seq: 2, at, type: 'state', state: 'running', exit_code: null }]);
  const ended = encodeChunk([{ seq: 3, at, type: 'state', state: 'succeeded', exit_code: 0 }]);
  const key = TEST_RING.activeId;
  const detail = JSON.stringify({ state: 'succeeded', exit_code: 0, by: 'run' });
  const db = new DatabaseSync(file);
  try {
    db.exec('pragma synchronous = off; pragma cache_size = -262144; begin');
    db.prepare(CHUNKS).run({ claimed, ended });
    db.prepare(LEDGER).run({ key, detail });
    db.prepare(CHAIN).run({ key });
    db.prepare(EVENTS).run();
    db.prepare(MARKS).run();
    db.exec('commit; pragma wal_checkpoint(truncate)');
  } finally {
    db.close();
  }
}
