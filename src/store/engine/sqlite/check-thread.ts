import { parentPort, workerData } from 'node:worker_threads';
import { SqliteConnection } from './driver.ts';

const { file, limit } = workerData as { file: string; limit: number };
const reader = new SqliteConnection(file, { readOnly: true });
try {
  const rows = reader.run<{ quick_check: string }>(`pragma quick_check(${limit})`, []).rows;
  parentPort?.postMessage(rows.map((row) => row.quick_check).filter((line) => line !== 'ok'));
} finally {
  reader.close();
}
