import assert from 'node:assert/strict';
import { PassThrough, Readable } from 'node:stream';
import { test } from 'node:test';
import { systemClock } from '../../lib/clock.ts';
import { setUp, settle } from '../../../test/support/output/recording.ts';

function endless(line: string, onRead: (bytes: number) => void): Readable {
  const block = Buffer.from(line.repeat(Math.ceil(65_536 / line.length)));
  return new Readable({
    highWaterMark: 65_536,
    read() {
      onRead(block.length);
      this.push(block);
    },
  });
}

void test('I9: events of both streams, system lines and progress are numbered in order of arrival', async () => {
  const { store, recorder, finish } = setUp({ firstSeq: 41 });
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  recorder.system('starting');
  recorder.attach(stdout, 'stdout');
  recorder.attach(stderr, 'stderr');
  stdout.write('one\ntwo\n');
  await settle();
  stderr.write('oops\n');
  await settle();
  recorder.event({ play: 'Web', task: 'Copy' });
  stdout.end('three\nunfinished');
  stderr.end();
  assert.deepEqual(await finish(), { lastSeq: 48 - 1 });
  assert.deepEqual(store.lines, [
    'system: starting',
    'stdout: one',
    'stdout: two',
    'stderr: oops',
    'progress',
    'stdout: three',
    'stdout: unfinished',
  ]);
  assert.deepEqual(
    store.events.map((event) => event.seq),
    [41, 42, 43, 44, 45, 46, 47],
  );
  assert.equal(store.events[0]?.at, '2026-01-02T03:04:05.006Z');
});

void test('a chunk names the last progress in it, and a chunk without progress none', async () => {
  const { store, clock, recorder, finish } = setUp({ secrets: [Buffer.from('hunter2-hunter2')] });
  recorder.event({ play: 'Web', task: 'Copy' });
  recorder.event({ play: 'Web', task: 'Use hunter2-hunter2' });
  recorder.system('between');
  clock.advance(60);
  await settle();
  recorder.system('last');
  await finish();
  assert.deepEqual(
    store.chunks.map(({ progress }) => progress),
    [{ play: 'Web', task: 'Use [redacted · secret]' }, undefined],
  );
});

void test('a run without output stores nothing and ends before its first seq', async () => {
  const { store, recorder, finish } = setUp({ firstSeq: 9 });
  recorder.attach(Readable.from([]), 'stdout');
  assert.deepEqual(await finish(), { lastSeq: 8 });
  assert.equal(store.chunks.length, 0);
});

void test('a quiet line reaches the store 50 ms after it came, not before, and without waiting for more', async () => {
  const { store, clock, recorder, finish } = setUp();
  const stdout = new PassThrough();
  recorder.attach(stdout, 'stdout');
  stdout.write('hello\nunfini');
  await settle();
  clock.advance(49);
  await settle();
  assert.equal(store.chunks.length, 0);
  clock.advance(1);
  await settle();
  assert.deepEqual(store.lines, ['stdout: hello']);
  stdout.end('shed\n');
  await finish();
  assert.deepEqual(store.lines, ['stdout: hello', 'stdout: unfinished']);
});

void test('a full chunk is stored at once', async () => {
  const { store, recorder, finish } = setUp();
  const stdout = new PassThrough({ highWaterMark: 1_000_000 });
  recorder.attach(stdout, 'stdout');
  stdout.write(`${'x'.repeat(99)}\n`.repeat(3000));
  while (store.chunks.length === 0) await settle();
  assert.equal(store.chunks[0]?.lastSeq, 2621);
  stdout.end();
  assert.deepEqual(await finish(), { lastSeq: 3000 });
});

void test('while the store is busy with one chunk, what comes gathers in the next', async () => {
  const { store, clock, recorder, finish } = setUp();
  const stdout = new PassThrough();
  recorder.attach(stdout, 'stdout');
  store.hold();
  for (let i = 0; i < 10; i += 1) {
    stdout.write(`line ${i}\n`);
    await settle();
    clock.advance(50);
    await settle();
  }
  assert.equal(store.chunks.length, 1);
  store.release();
  while (store.chunks.length < 2) await settle();
  assert.deepEqual(
    store.chunks.map(({ firstSeq, lastSeq }) => [firstSeq, lastSeq]),
    [
      [1, 1],
      [2, 10],
    ],
  );
  stdout.end();
  await finish();
});

void test('a store that does not answer stops the reading at about 1 MiB; once it answers, all is there', async () => {
  const { store, recorder, finish } = setUp();
  store.hold();
  const seen = { bytes: 0 };
  const stdout = endless(`${'x'.repeat(99)}\n`, (bytes) => {
    seen.bytes += bytes;
  });
  recorder.attach(stdout, 'stdout');
  for (let before = -1; before !== seen.bytes;) {
    before = seen.bytes;
    await settle();
  }
  assert.ok(seen.bytes <= 1024 * 1024 + 65_600, `${seen.bytes} bytes were read`);
  assert.ok(stdout.isPaused());
  // The first chunk is compressed on another thread and comes when that is done.
  while (store.chunks.length === 0) await settle();
  for (let turn = 0; turn < 50; turn += 1) await settle();
  assert.equal(store.chunks.length, 1, 'one write is under way, no more');
  const enough = seen.bytes + 4 * 1024 * 1024;
  store.release();
  while (seen.bytes < enough) await settle();
  stdout.destroy();
  const { lastSeq } = await finish();
  assert.equal(store.events.length, lastSeq);
  assert.ok(store.events.every((event) => event.type === 'log' && event.text.length === 99));
});

void test('a job that writes without end gets a bounded part of each turn of the event loop', async () => {
  const { recorder, finish } = setUp({ clock: systemClock, write: () => Promise.resolve() });
  let [inTurn, most, turns] = [0, 0, 0];
  const stdout = endless('some line of the job\n', (bytes) => {
    inTurn += bytes;
    most = Math.max(most, inTurn);
  });
  recorder.attach(stdout, 'stdout');
  for (; turns < 200; turns += 1) {
    inTurn = 0;
    await new Promise((resolve) => setImmediate(resolve));
  }
  stdout.destroy();
  await finish();
  assert.ok(most > 0 && most <= 4 * 65_600, `${most} bytes in one turn`);
});

void test('the cap stops the keeping at a whole line, says so once, and the job runs to its end', async () => {
  const { store, clock, recorder, finish } = setUp({ capBytes: 2048 });
  let read = 0;
  const lines = Array.from({ length: 5000 }, (_, i) => `${i}`.padStart(99, '.') + '\n');
  const stdout = Readable.from(lines.map((line) => Buffer.from(line)));
  stdout.on('data', (line: Buffer) => {
    read += line.length;
  });
  recorder.attach(stdout, 'stdout');
  const finished = finish();
  while (!stdout.readableEnded) {
    await settle();
    clock.advance(4);
  }
  await finished;
  assert.equal(read, 500_000);
  assert.equal(store.lines.length, 21);
  assert.equal(store.lines[19], `stdout: ${'19'.padStart(99, '.')}`);
  assert.equal(store.lines[20], 'system: Output limit of 2 KiB reached; the rest is not kept.');
});

void test('output of exactly the cap is kept without a mark; both streams share it', async () => {
  const { store, recorder, finish } = setUp({ capBytes: 8 });
  recorder.attach(Readable.from([Buffer.from('abc\n')]), 'stdout');
  await settle();
  recorder.attach(Readable.from([Buffer.from('def\n')]), 'stderr');
  await settle();
  recorder.attach(Readable.from([Buffer.from('\n')]), 'stdout');
  await settle();
  recorder.system('still recorded');
  await finish();
  assert.deepEqual(store.lines, [
    'stdout: abc',
    'stderr: def',
    'system: Output limit of 8 bytes reached; the rest is not kept.',
    'system: still recorded',
  ]);
});

void test('system lines and progress of a run have a limit too', async () => {
  const { store, recorder, finish } = setUp();
  for (let i = 0; i < 100; i += 1) recorder.system('x'.repeat(50_000));
  for (let i = 0; i < 100; i += 1) recorder.event({ play: 'p'.repeat(100_000), task: '' });
  await finish();
  assert.ok(store.chunks.reduce((sum, chunk) => sum + chunk.rawBytes, 0) < 4.1 * 1024 * 1024);
});

void test('paths of the run and data directory are words in output, system lines and names of progress', async () => {
  const folders = { run: '/srv/ops/runs/job_1', data: ['/srv/ops'] };
  const { store, recorder, finish } = setUp({ folders, secrets: [Buffer.from('hunter22')] });
  const stdout = new PassThrough();
  recorder.attach(stdout, 'stdout');
  recorder.system("The directory of the run could not be made: EACCES: permission denied, mkdir '/srv/ops/runs/job_1'");
  recorder.event({ play: '/srv/ops/runs/job_1/site.yml', task: 'read /srv/ops/x' });
  stdout.end('in /srv/ops/runs/job_1/hunter22\n');
  await finish();
  assert.equal(
    store.lines[0],
    "system: The directory of the run could not be made: EACCES: permission denied, mkdir '[run]'",
  );
  assert.partialDeepStrictEqual(store.events[1], { play: '[run]/site.yml', task: 'read [data]/x' });
  assert.equal(store.lines[2], 'stdout: in [run]/[redacted · secret]');
});
