/** The way of output from a program's pipe through redaction into the store, and the same pipe read barely. */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { claim } from '../../src/daemon/jobs/job-transitions.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { testKeyring } from '../../test/support/seal.ts';
import type { RecordedChunk } from '../../src/runners/output/chunk-queue.ts';
import { Recorder } from '../../src/runners/output/recorder.ts';
import { appendOutput } from '../../src/store/jobs/chunks.ts';
import { fenceOf } from '../../src/store/jobs/claims.ts';
import { insertDaemon } from '../../src/store/maintenance/daemons.ts';
import { openStore, type Store } from '../../src/store/store.ts';
import { orders, say } from '../kit/child.ts';
import { addJobs } from '../kit/filled.ts';
import { monotonicMs } from '../kit/time.ts';
import type { RecordOrder } from './orders.ts';

const LINE_BYTES = 100;
const NEWLINE = 10;
const DAEMON = 'dmn_bench';
/** What a job may know: looked for in every byte. */
const SECRETS = ['correct-horse-battery', 'AKIA4XAMPLE7KEY', 'c2VjcmV0LXZhbHVlLTEyMw'].map((text) => Buffer.from(text));

/** Lines of 100 bytes that look like a log: times, levels, words that repeat, and digits that do not. */
function logLines(count: number): Buffer {
  const lines = Array.from({ length: count }, (_, i) => {
    const head =
      `${new Date(1_750_000_000_000 + i * 3).toISOString()} INFO  step ${i} of the plan: resource ` +
      `${randomBytes(8).toString('hex')} is `;
    return `${head.padEnd(LINE_BYTES - 1, 'unchanged ').slice(0, LINE_BYTES - 1)}\n`;
  });
  return Buffer.from(lines.join(''));
}

async function bareRate(file: string, lines: number): Promise<number> {
  const before = monotonicMs();
  const child = spawn('/bin/cat', [file], { stdio: ['ignore', 'pipe', 'ignore'] });
  let seen = 0;
  for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, at + 1)) seen += 1;
  }
  if (seen !== lines) throw new Error(`read ${seen} lines of ${lines}`);
  return lines / ((monotonicMs() - before) / 1000);
}

const writePartial = (): Promise<void> => Promise.resolve();

async function recordedRate(store: Store, file: string, lines: number): Promise<number> {
  const [claimed] = await store.write((tx) => claim(tx, { id: DAEMON, node: 'here' }, 1));
  if (claimed === undefined) throw new Error('nothing to claim');
  const fence = fenceOf(claimed.row);
  const before = monotonicMs();
  let lastSeq = claimed.lastSeq;
  const write = async (chunk: RecordedChunk): Promise<void> => {
    const { firstSeq, rawBytes, data } = chunk;
    lastSeq = chunk.lastSeq;
    await store.write((tx) =>
      appendOutput(tx, fence, { first_seq: firstSeq, last_seq: lastSeq, raw_bytes: rawBytes, data }),
    );
  };
  const firstSeq = claimed.lastSeq + 1;
  const recorder = new Recorder({ secrets: SECRETS, clock: systemClock, firstSeq, write, writePartial });
  const child = spawn('/bin/cat', [file], { stdio: ['ignore', 'pipe', 'ignore'] });
  recorder.attach(child.stdout, 'stdout');
  const last = await recorder.finish();
  if (last !== null) await write(last);
  if (lastSeq !== claimed.lastSeq + lines) throw new Error(`stored ${lastSeq - claimed.lastSeq} lines of ${lines}`);
  return lines / ((monotonicMs() - before) / 1000);
}

for await (const { dir, lines } of orders<RecordOrder>()) {
  const file = join(dir, 'lines');
  writeFileSync(file, logLines(lines));
  await addJobs(join(dir, 'store.db'), 10, 'queued');
  const store = await openStore({
    location: { file: join(dir, 'store.db') },
    clock: systemClock,
    daemonId: DAEMON,
    keyring: testKeyring,
  });
  const row = {
    host: 'bench',
    boot_id: 'bench',
    pid: process.pid,
    version: 'bench',
    lease_until: null,
    stopped_at: null,
  };
  await store.write((tx) => insertDaemon(tx, { id: DAEMON, started_at: tx.now, ...row }));
  await recordedRate(store, file, lines);
  say({ floorLinesPerSecond: await bareRate(file, lines), linesPerSecond: await recordedRate(store, file, lines) });
  await store.close();
}
