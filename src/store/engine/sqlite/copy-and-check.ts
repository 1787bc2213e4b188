import { closeSync, fdatasyncSync, openSync } from 'node:fs';
import { backup, DatabaseSync } from 'node:sqlite';
import type { SnapshotFacts } from '../snapshot.ts';

/** Pages between two syncs, and looks for a message to stop: 4 MB, which take some 15 ms. */
const PAGES = 1_000;

/** Both are paths. */
export interface CopyOrder {
  readonly file: string;
  /** A new file. */
  readonly to: string;
}

/** What the thread of a copy does. Rejects once `isStopped`, and when the copy is not a sound database. */
export async function copyAndCheck({ file, to }: CopyOrder, isStopped: () => boolean): Promise<SnapshotFacts> {
  await copy(file, to, isStopped);
  checkpoint(file);
  return finish(to);
}

async function copy(file: string, to: string, isStopped: () => boolean): Promise<void> {
  const source = new DatabaseSync(file, { readOnly: true });
  let target: number | null = null;
  try {
    // The copy is of one moment: SQLite begins again, from the first page, after each write that a reader sees. An
    // open transaction sees none, and the writers go on in the log.
    source.exec('begin');
    source.prepare('select count(*) from schema_migrations').get();
    await backup(source, to, {
      rate: PAGES,
      progress() {
        if (isStopped()) throw new Error('stopped');
        // In one go at the end, hundreds of megabytes would be in the way of what a commit of a writer waits for.
        target ??= openSync(to, 'r+');
        fdatasyncSync(target);
      },
    });
    source.exec('commit');
  } finally {
    if (target !== null) closeSync(target);
    source.close();
  }
}

/** Throws when the copy is not a sound database. */
function finish(to: string): SnapshotFacts {
  const made = new DatabaseSync(to);
  try {
    // A plain file: no log beside it belongs to it.
    made.exec('pragma journal_mode = delete');
    const found = made.prepare('pragma quick_check(1)').get()?.['quick_check'];
    if (found !== 'ok') throw new Error(`the copy is not a sound database: ${String(found)}`);
    const number = (query: string): number => Number(made.prepare(query).get()?.['value']);
    return {
      schema: number('select max(number) as value from schema_migrations'),
      jobs: number('select count(*) as value from jobs'),
      heads: made
        .prepare('select id as chain, length as seq, head as hash from chains where length > 0 order by id')
        .all()
        .map((row) => ({ chain: String(row['chain']), seq: Number(row['seq']), hash: String(row['hash']) })),
    };
  } finally {
    made.close();
  }
}

/** Writes the log into the database, without waiting for a reader or keeping a writer waiting. */
function checkpoint(file: string): void {
  const database = new DatabaseSync(file);
  try {
    database.exec('pragma wal_checkpoint(passive)');
  } finally {
    database.close();
  }
}
