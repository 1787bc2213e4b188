import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';

// The thread imports nothing else: the query builder alone takes 250 ms of a processor to load, at each check.
const { file, limit } = workerData as { file: string; limit: number };
const reader = new DatabaseSync(file, { readOnly: true });
try {
  const lines = reader.prepare(`pragma quick_check(${limit})`).all();
  parentPort?.postMessage(lines.map((row) => String(row['quick_check'])).filter((line) => line !== 'ok'));
} finally {
  reader.close();
}
