import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { SqliteConnection } from './driver.ts';
import { programEntry } from '../../../lib/files/program-files.ts';

/** Faults that one check names. */
const FAULTS_MAX = 20;

/**
 * SQLite's own check of its files, in a thread: it holds the thread that it runs on for 1.3 ms per MB (measured: 200 ms
 * for 200,000 jobs), and requests must not wait for that. Rejects with SQLite's error when the file can't be read.
 */
export async function checkFile(file: string): Promise<readonly string[]> {
  const thread = new Worker(programEntry('store/engine/sqlite/check-thread'), {
    workerData: { file, limit: FAULTS_MAX },
  });
  const [faults] = (await once(thread, 'message')) as [readonly string[]];
  return faults;
}

/**
 * What makes an answered write survive a power cut: the log, and a sync at each commit. A setting of each connection.
 */
export function checkDurability(writer: SqliteConnection): readonly string[] {
  const faults: string[] = [];
  const mode = writer.run<{ journal_mode: string }>('pragma journal_mode', []).rows[0]?.journal_mode;
  if (mode !== 'wal') faults.push(`journal_mode is ${mode ?? 'unknown'}, expected wal`);
  const synchronous = writer.run<{ synchronous: number }>('pragma synchronous', []).rows[0]?.synchronous;
  if (synchronous !== 2) faults.push(`synchronous is ${synchronous ?? 'unknown'}, expected 2 (full)`);
  return faults;
}
