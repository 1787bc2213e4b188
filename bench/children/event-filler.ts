/**
 * Puts many events into the store of a data directory that no process has open, oldest first, as a ledger of weeks has
 * them.
 */
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { systemClock } from '../../src/lib/clock.ts';
import { newId } from '../../src/lib/id.ts';
import { testKeyring } from '../../test/support/seal.ts';
import { openStore } from '../../src/store/store.ts';
import { orders, say } from '../kit/child.ts';
import type { FillOrder } from './reaction-orders.ts';

const COLUMNS = [
  'id',
  'source',
  'name',
  'status',
  'netgroup',
  'severity',
  'fingerprint',
  'labels',
  'outcome',
  'reason',
  'received_at',
  'annotations',
];
const MS_PER_EVENT = 1_000;
/** Rows of one insert: 12 values each, and SQLite takes 32,766. */
const ROWS_PER_INSERT = 1_000;

function row(index: number, at: number): SQLInputValue[] {
  const labels = {
    alertname: 'DiskFull',
    job: 'node',
    severity: 'warning',
    instance: `web${index % 500}:9100`,
    device: '/dev/sda1',
    peer_ip: '192.0.2.7',
  };
  const annotations = JSON.stringify({ summary: 'The disk is nearly full.', starts_at: new Date(at).toISOString() });
  const fingerprint = index.toString(16).padStart(16, '0');
  const reason = 'No rule matched this event.';
  return [
    newId('evt', at),
    'alertmanager',
    'DiskFull',
    'firing',
    'away',
    'warning',
    fingerprint,
    JSON.stringify(labels),
    'ignored',
    reason,
    at,
    annotations,
  ];
}

for await (const { file, count, ageMs = 0 } of orders<FillOrder>()) {
  await (
    await openStore({ location: { file }, clock: systemClock, daemonId: 'dmn_bench', keyring: testKeyring })
  ).close();
  const db = new DatabaseSync(file);
  // A failure of the machine only means that it is made again, so nothing has to be flushed.
  db.exec('pragma synchronous = off; pragma cache_size = -262144; begin');
  const holes = `(${COLUMNS.map(() => '?').join(',')})`;
  const startAt = Date.now() - ageMs - count * MS_PER_EVENT;
  for (let done = 0; done < count; done += ROWS_PER_INSERT) {
    const rows = Math.min(ROWS_PER_INSERT, count - done);
    const insert = db.prepare(`insert into events (${COLUMNS.join(',')}) values ${Array(rows).fill(holes).join(',')}`);
    insert.run(...Array.from({ length: rows }, (_, i) => row(done + i, startAt + (done + i) * MS_PER_EVENT)).flat());
  }
  db.prepare("insert into event_counts (chain, outcome, count) values ('0', 'ignored', ?)").run(count);
  db.prepare('update schema_migrations set applied_at = ?').run(startAt);
  db.exec('commit; pragma wal_checkpoint(truncate)');
  db.close();
  say({ filled: count });
}
