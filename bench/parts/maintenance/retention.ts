import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type LoadResult, startLoad } from '../../../test/support/restart/steady-load.ts';
import type { FillOrder } from '../../children/reaction-orders.ts';
import type { Bench } from '../../kit/bench.ts';
import type { RoomAnswer, RoomOrder } from '../../children/room-giver.ts';
import { runChild } from '../../kit/child.ts';
import { startDaemon } from '../../kit/daemon.ts';
import { tempDir, removeDir } from '../../kit/scratch.ts';
import { sleep } from '../../kit/time.ts';

const PER_SECOND = 500;
/** Older than events are kept. */
const AGE_MS = 100 * 86_400_000;
const BODY = JSON.stringify({ inventory: 'localhost', command: ['/bin/true'] });
/** Of the first requests, in milliseconds: not counted. */
const WARM_UP_MS = 3_000;

/** Old events are deleted while others write: enqueues at a fixed rate, none of which may start. */
export async function retention({ report, quick }: Bench): Promise<void> {
  const count = quick ? 100_000 : 1_000_000;
  const ms = quick ? 10_000 : 60_000;
  await roomGiven(report, count);
  const empty = await enqueues(tempDir('retention-empty'), ms);
  const dataDir = tempDir('retention');
  await fill(dataDir, count);
  const filled = await enqueues(dataDir, ms);
  const note = `beside ${PER_SECOND} enqueues/s, of ${count}`;
  report.add({ name: 'old events deleted', value: filled.deleted / (ms / 1_000), unit: '/s', note });
  const floor = { name: 'without old events', value: empty.p99Ms };
  report.add({ name: 'enqueues at the same time, p99', value: filled.p99Ms, unit: 'ms', floor, goal: { atMost: 50 } });
  report.add({ name: 'enqueues that failed', value: filled.failures.length, unit: '', goal: { atMost: 0 } });
}

async function fill(dataDir: string, count: number): Promise<string> {
  const file = join(dataDir, 'gatehouse.db');
  await runChild('children/event-filler.ts', { file, count, ageMs: AGE_MS } satisfies FillOrder);
  return file;
}

/** All events are deleted; then the file gives its room back while others write. */
async function roomGiven(report: Bench['report'], count: number): Promise<void> {
  const dataDir = tempDir('retention-room');
  try {
    const file = await fill(dataDir, count);
    const order = { file, keptMs: AGE_MS / 2 } satisfies RoomOrder;
    const { floor, given } = await runChild<RoomAnswer>('children/room-giver.ts', order);
    const [full, end] = [given.fullBytes, given.endBytes].map((bytes) => (bytes / 1_000_000).toFixed(0));
    const note = `${full} MB to ${end} in ${(given.tookMs / 1_000).toFixed(0)} s`;
    const pauses = { name: 'beside nothing', value: floor.longestPauseMs };
    const goal = { atMost: 50 };
    report.add({
      name: 'room given back, longest pause',
      value: given.longestPauseMs,
      unit: 'ms',
      note,
      floor: pauses,
      goal,
    });
    const writes = { name: 'beside nothing', value: floor.longestWriteMs };
    const beside = `of ${given.writes} writes, p99 ${given.p99WriteMs.toFixed(1)} ms`;
    report.add({
      name: 'longest write beside it',
      value: given.longestWriteMs,
      unit: 'ms',
      note: beside,
      floor: writes,
      goal,
    });
  } finally {
    removeDir(dataDir);
  }
}

/** Enqueues for `ms` milliseconds from the start of the daemon on, which begins to delete at once. */
async function enqueues(dataDir: string, ms: number): Promise<LoadResult & { readonly deleted: number }> {
  const daemon = await startDaemon({ dataDir });
  try {
    await daemon.ask('POST', '/maintenance/cordon');
    const token = daemon.headers['authorization']?.replace('Bearer ', '') ?? '';
    const order = { method: 'POST', body: BODY, status: 202 };
    const send = () => startLoad(daemon.url('/commands/run'), token, PER_SECOND, order);
    const first = send();
    await sleep(WARM_UP_MS);
    await first.stop();
    const before = deletedIn(dataDir);
    const load = send();
    await sleep(ms);
    const result = await load.stop();
    return { ...result, deleted: deletedIn(dataDir) - before };
  } finally {
    await daemon.stop();
    removeDir(dataDir);
  }
}

/** How many events were deleted so far. */
function deletedIn(dataDir: string): number {
  const db = new DatabaseSync(join(dataDir, 'gatehouse.db'), { readOnly: true });
  try {
    const row = db.prepare("select deleted from retention where name = 'events'").get();
    return Number(row?.['deleted'] ?? 0);
  } finally {
    db.close();
  }
}
