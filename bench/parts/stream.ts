import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import type { Bench } from '../kit/bench.ts';
import { getData, queueCommand, startDaemon, type Daemon } from '../kit/daemon.ts';
import { openStream, readStream } from '../kit/event-stream.ts';
import { residentMiB } from '../kit/process-facts.ts';
import { removeDir, tempDir } from '../kit/scratch.ts';
import { median, percentile } from '../kit/statistics.ts';
import { sleep, until, wallMs } from '../kit/time.ts';

/** Prints the time every 0.1 s. Both ends read the same clock of the same machine. */
const CLOCK_PROGRAM = 'for i in $(seq "$1"); do date +%s%N; sleep 0.1; done';
const NS_PER_MS = 1e6;
/** The cap of one identity, twice: all that a daemon lets in. */
const READERS_PER_OWNER = 4;
const OWNERS = 2;
/** More than the buffers of both ends hold. */
const MUCH_LINES = 150_000;
/** How often memory is read to even out the collections of garbage. */
const MEMORY_SAMPLES = 20;
const MEMORY_EVERY_MS = 50;

function delayOf(text: string): number {
  return wallMs() - Number(text) / NS_PER_MS;
}

/** From a line's writing to its reading, through a pipe alone. */
async function bareDelays(lines: number): Promise<number[]> {
  const delays: number[] = [];
  const dir = tempDir('clock');
  const file = join(dir, 'clock.sh');
  writeFileSync(file, CLOCK_PROGRAM);
  const child = spawn('/bin/sh', [file, String(lines)], { stdio: ['ignore', 'pipe', 'ignore'] });
  for await (const chunk of child.stdout as AsyncIterable<Buffer>) delays.push(delayOf(chunk.toString().trim()));
  removeDir(dir);
  return delays;
}

async function streamedDelays(daemon: Daemon, lines: number): Promise<number[]> {
  const delays: number[] = [];
  const jobId = await queueCommand(daemon, ['/bin/sh', '-c', CLOCK_PROGRAM, 'clock', String(lines)]);
  await readStream(await openStream(daemon, jobId, daemon.headers), ({ event, data }) => {
    if (event === 'log') delays.push(delayOf((data as { text: string }).text));
  });
  return delays;
}

async function memory(daemon: Daemon): Promise<number> {
  const samples: number[] = [];
  for (let i = 0; i < MEMORY_SAMPLES; i += 1) {
    samples.push(residentMiB(daemon.pid));
    await sleep(MEMORY_EVERY_MS);
  }
  return median(samples);
}

async function drain(response: IncomingMessage): Promise<void> {
  response.resume();
  await once(response, 'end');
}

/** Opens as many streams as are let in on a job with much output, and reads none of them. */
async function neverRead(daemon: Daemon): Promise<{ before: number; after: number; streams: number }> {
  const jobId = await queueCommand(daemon, ['/usr/bin/seq', '-f', '%099.0f', '1', String(MUCH_LINES)]);
  await until('the job with much output ended', 60_000, 100, async () => {
    return (await getData<{ finished_at: string | null }>(daemon, `/jobs/${jobId}`)).finished_at !== null;
  });
  const owners = await Promise.all(Array.from({ length: OWNERS }, (_, i) => daemon.headersFor(`reader-${i}`)));
  const each = owners.flatMap((headers) => Array.from({ length: READERS_PER_OWNER }, () => headers));
  // The same number is read to its end first: the garbage of making streams is not the cost of one that waits.
  const read = await Promise.all(each.map((headers) => openStream(daemon, jobId, headers)));
  await Promise.all(read.map((response) => drain(response)));
  await sleep(1_000);
  const before = await memory(daemon);
  const open = await Promise.all(each.map((headers) => openStream(daemon, jobId, headers)));
  try {
    for (const response of open) response.pause();
    await sleep(1_500);
    return { before, after: await memory(daemon), streams: open.length };
  } finally {
    for (const response of open) response.destroy();
  }
}

/** How soon a line is seen, and what a client costs that stopped reading. */
export async function stream({ report, quick }: Bench): Promise<void> {
  const lines = quick ? 20 : 50;
  const daemon = await startDaemon();
  try {
    await streamedDelays(daemon, 2);
    const floor = { name: 'the same program, a bare pipe', value: percentile(await bareDelays(lines), 0.5) };
    const delays = await streamedDelays(daemon, lines);
    report.add({
      name: 'line to stream: p50',
      value: percentile(delays, 0.5),
      unit: 'ms',
      floor,
      goal: { atMost: 100 },
    });
    report.add({ name: 'line to stream: p99', value: percentile(delays, 0.99), unit: 'ms', floor });
    const { before, after, streams } = await neverRead(daemon);
    const note = `${streams} clients, the daemon had ${before.toFixed(0)} MiB before`;
    report.add({
      name: 'memory of a client that never reads',
      note,
      value: Math.max(0, after - before) / streams,
      unit: 'MiB',
      goal: { atMost: 1 },
    });
  } finally {
    await daemon.stop();
    removeDir(daemon.dataDir);
  }
}
