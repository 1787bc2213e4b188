import { closeSync, copyFileSync, fsyncSync, openSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Bench } from '../../kit/bench.ts';
import { type Daemon, expectStatus, getData, startDaemon } from '../../kit/daemon.ts';
import { filledDataDir } from '../../kit/filled.ts';
import { HttpConnection, requestBytes } from '../../kit/http-client.ts';
import { tempDir } from '../../kit/scratch.ts';
import { median, percentile } from '../../kit/statistics.ts';
import { monotonicMs } from '../../kit/time.ts';
import { MILLION } from '../list.ts';

/** Between two looks at the job, in writes. */
const LOOK_EVERY = 50;
const IDLE_WRITES = 500;
const MIB = 2 ** 20;

interface Job {
  readonly state: string;
  readonly started_at: string | null;
  readonly finished_at: string | null;
}

/** Sends one write after the other until `isOver`; answers how long each took. */
async function writes(daemon: Daemon, isOver: (count: number) => boolean | Promise<boolean>): Promise<number[]> {
  const url = daemon.url('/maintenance/uncordon');
  const write = requestBytes({ method: 'POST', url, headers: daemon.headers });
  const connection = await HttpConnection.open(url);
  const samples: number[] = [];
  try {
    while (!(await isOver(samples.length))) {
      const before = monotonicMs();
      const response = await connection.send(write);
      samples.push(monotonicMs() - before);
      expectStatus(response, 200);
    }
  } finally {
    connection.close();
  }
  return samples;
}

/** What any copy takes at least, in seconds. */
function copySeconds(from: string, to: string): number {
  const before = monotonicMs();
  copyFileSync(from, to);
  const file = openSync(to, 'r+');
  fsyncSync(file);
  closeSync(file);
  const took = monotonicMs() - before;
  rmSync(to);
  return took / 1_000;
}

/** One backup while a client writes without a pause: the seconds of its run, and the times of the writes. */
async function round(daemon: Daemon): Promise<{ seconds: number; during: number[] }> {
  const { job_id: id } = await daemon.svc<{ job_id: string }>(['backup', 'create']);
  const look = (): Promise<Job> => getData<Job>(daemon, `/jobs/${id}`);
  const during = await writes(daemon, async (count) => count % LOOK_EVERY === 0 && (await look()).finished_at !== null);
  const { state, started_at: start, finished_at: end } = await look();
  if (state !== 'succeeded' || start === null || end === null) throw new Error(`the backup is ${state}`);
  return { seconds: (Date.parse(end) - Date.parse(start)) / 1_000, during };
}

interface Measured {
  readonly seconds: readonly number[];
  readonly copies: readonly number[];
  readonly during: readonly number[];
  readonly idle: readonly number[];
  /** Of the backup and of the database, in bytes. */
  readonly size: number;
  readonly stored: number;
}

function addFigures(report: Bench['report'], { seconds, copies, during, idle, size, stored }: Measured): void {
  report.add({
    name: 'backup of 1,000,000 jobs, sealed and verified, under writes',
    value: median(seconds),
    unit: 's',
    floor: { name: 'copy of the file, synced', value: median(copies) },
    goal: { atMost: 10 },
  });
  report.add({
    name: 'longest of the writes during it, 1 client',
    value: Math.max(...during),
    unit: 'ms',
    floor: { name: `longest of ${idle.length} writes before it`, value: Math.max(...idle) },
    goal: { atMost: 100 },
    note: `${during.length} writes`,
  });
  report.add({
    name: 'writes during it: p99',
    value: percentile(during, 0.99),
    unit: 'ms',
    floor: { name: 'writes before it: p99', value: percentile(idle, 0.99) },
  });
  report.add({
    name: 'size of the backup',
    value: size / MIB,
    unit: 'MiB',
    floor: { name: 'the database', value: stored / MIB },
    goal: { ratioAtMost: 0.35 },
  });
}

/** A backup of a million jobs. */
export async function backup({ report, quick }: Bench): Promise<void> {
  const dataDir = await filledDataDir(MILLION);
  const folder = tempDir('backups');
  const database = join(dataDir, 'gatehouse.db');
  const daemon = await startDaemon({ dataDir, flags: ['--backup-dir', folder, '--keep-backups', '1'] });
  try {
    const idle = await writes(daemon, (count) => count >= IDLE_WRITES);
    const [seconds, copies, during]: [number[], number[], number[]] = [[], [], []];
    for (let count = 0; count < (quick ? 1 : 3); count += 1) {
      copies.push(copySeconds(database, join(folder, 'copy')));
      const made = await round(daemon);
      seconds.push(made.seconds);
      during.push(...made.during);
    }
    const [newest] = await getData<{ size_bytes: number }[]>(daemon, '/backups');
    const size = newest?.size_bytes ?? Number.NaN;
    addFigures(report, { seconds, copies, during, idle, size, stored: statSync(database).size });
  } finally {
    await daemon.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}
