import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { removeDir, tempDir } from '../kit/scratch.ts';
import { monotonicMs } from '../kit/time.ts';

/** Opens a database as the store does: write-ahead log, every commit flushed to the disk. */
export function openFull(file: string): DatabaseSync {
  const db = new DatabaseSync(file);
  db.exec('pragma journal_mode = wal; pragma synchronous = full');
  db.exec('create table jobs (id integer primary key, at integer not null, body text not null) strict');
  return db;
}

export const INSERT = 'insert into jobs (at, body) values (?, ?)';

/** Single-row inserts per second, each with its own commit, prepared once. */
export function rawInsertsPerSecond(durationMs: number): number {
  const dir = tempDir('insert');
  const db = openFull(join(dir, 'floor.db'));
  try {
    const insert = db.prepare(INSERT);
    const before = monotonicMs();
    let count = 0;
    while (monotonicMs() - before < durationMs) {
      insert.run(count, 'a job');
      count += 1;
    }
    return count / ((monotonicMs() - before) / 1000);
  } finally {
    db.close();
    removeDir(dir);
  }
}
