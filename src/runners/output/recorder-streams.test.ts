import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { PassThrough, Readable } from 'node:stream';
import { test } from 'node:test';
import { decodeChunk } from '../../lib/chunks/chunk.ts';
import { systemClock } from '../../lib/clock.ts';
import { LINE_LIMIT_BYTES } from './lines.ts';
import { RecorderFenced } from './recorder.ts';
import { setUp, settle } from '../../../test/support/output/recording.ts';

void test('T55: no secret reaches the store from a stream, a system line or progress, however it is cut', async () => {
  const secret = 'hunter2-is-long';
  const { store, recorder, finish } = setUp({ secrets: [Buffer.from(secret)] });
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  recorder.attach(stdout, 'stdout');
  recorder.attach(stderr, 'stderr');
  for (const byte of Buffer.from(`a ${secret} b\n${Buffer.from(`user:${secret}`).toString('base64')}\n`)) {
    stdout.write(Buffer.of(byte));
    stderr.write(Buffer.of(byte));
    await settle();
  }
  recorder.system(`could not run curl -u ${secret}`);
  recorder.event({ play: secret, task: `login with ${secret}` });
  stdout.end();
  stderr.end();
  await finish();
  const stored = JSON.stringify(store.events);
  assert.ok(!stored.includes('hunter2') && !stored.includes(Buffer.from(secret).toString('base64').slice(0, 12)));
  assert.equal(stored.split('[redacted · secret]').length - 1, 7);
});

void test('F13: hostile bytes are kept as they are, shown by the replacement rule, as valid JSON', async () => {
  const { store, recorder, finish } = setUp();
  const corpus = [
    Buffer.from([0xff, 0xfe, 0xc3, 0x28, 0xe2, 0x82]),
    Buffer.from('\0\0NUL\0'),
    Buffer.from('10%\r50%\r100%'),
    Buffer.from('\x1b[31mred\x1b[0m\x1b]0;title\x07'),
    Buffer.from([0xed, 0xa0, 0x80, 0xed, 0xbf, 0xbf]),
    Buffer.from('\u202eright to left, \ufeffmark, 🧀'),
    Buffer.alloc(0),
  ];
  recorder.attach(Readable.from(corpus.map((bytes) => Buffer.concat([bytes, Buffer.from('\n')]))), 'stdout');
  await finish();
  const expected = corpus.map((bytes) => new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes));
  assert.deepEqual(
    store.events.map((event) => event.type === 'log' && event.text),
    expected,
  );
  assert.deepEqual(JSON.parse(JSON.stringify(store.events)), store.events);
});

void test('F13: a line of 100 MB without an end becomes events of 64 KiB, one after another', async () => {
  let [pieces, bytes] = [0, 0];
  const { recorder, finish } = setUp({
    write: ({ data, firstSeq }) => {
      for (const event of decodeChunk(data, { after: 0, limit: 100 })) {
        assert.equal(event.seq, pieces + 1);
        assert.ok(event.type === 'log' && event.text.length <= LINE_LIMIT_BYTES);
        pieces += 1;
        bytes += event.text.length;
      }
      assert.ok(firstSeq <= pieces);
      return Promise.resolve();
    },
  });
  const block = Buffer.alloc(100_000, 'z');
  recorder.attach(Readable.from(Array.from({ length: 1000 }, () => block)), 'stdout');
  assert.deepEqual(await finish(), { lastSeq: Math.ceil(100_000_000 / LINE_LIMIT_BYTES) });
  assert.equal(bytes, 100_000_000);
});

void test('output of a real program comes whole, though the buffers of its reads are given back at once', async () => {
  const { store, recorder, finish } = setUp({ clock: systemClock });
  const program =
    'for (let i = 0; i < 60000; i += 1) { process.stdout.write(`line ${i} of stdout\\n`); if (i ' +
    '% 3 === 0) process.stderr.write(`E${i}\\n`); }';
  const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'pipe'] });
  recorder.attach(child.stdout, 'stdout');
  recorder.attach(child.stderr, 'stderr');
  await once(child, 'close');
  assert.deepEqual(await finish(), { lastSeq: 80_000 });
  const lines = Map.groupBy(store.lines, (line) => line.slice(0, 6));
  assert.deepEqual(
    lines.get('stdout'),
    Array.from({ length: 60_000 }, (_, i) => `stdout: line ${i} of stdout`),
  );
  assert.deepEqual(
    lines.get('stderr'),
    Array.from({ length: 20_000 }, (_, i) => `stderr: E${3 * i}`),
  );
});

void test('another listener of the same stream keeps what it was given', async () => {
  const { recorder, finish } = setUp({ clock: systemClock });
  const child = spawn(process.execPath, ['-e', "process.stdout.write('y'.repeat(1000000))"], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const kept: Buffer[] = [];
  recorder.attach(child.stdout, 'stdout');
  child.stdout.on('data', (chunk: Buffer) => kept.push(chunk));
  await once(child, 'close');
  await finish();
  assert.ok(Buffer.concat(kept).equals(Buffer.alloc(1_000_000, 'y')));
});

void test('a run that lost its job keeps nothing more, and reads its program to the end', async () => {
  let writes = 0;
  const { clock, recorder, finish } = setUp({
    write: () => {
      writes += 1;
      return writes === 2 ? Promise.reject(new RecorderFenced()) : Promise.resolve();
    },
  });
  const stdout = Readable.from(Array.from({ length: 100 }, () => Buffer.from(`${'x'.repeat(99)}\n`.repeat(650))));
  recorder.attach(stdout, 'stdout');
  const finished = finish();
  while (!stdout.readableEnded) {
    await settle();
    clock.advance(4);
  }
  recorder.system('not kept');
  assert.deepEqual(await finished, { lastSeq: 2621 });
  assert.equal(writes, 2);
});

void test('when the store refuses for good, finish rejects with the same', async () => {
  const refusal = new Error('disk full');
  const { recorder, finish } = setUp({ write: () => Promise.reject(refusal) });
  recorder.attach(Readable.from([Buffer.from('a\n')]), 'stdout');
  await assert.rejects(finish(), refusal);
});

void test('a stream that fails is reported and does not delay the end', async () => {
  const { store, recorder, finish } = setUp();
  const stdout = new PassThrough();
  recorder.attach(stdout, 'stdout');
  stdout.write('before');
  await settle();
  stdout.destroy(Object.assign(new Error('read EIO'), { code: 'EIO' }));
  await finish();
  assert.deepEqual(store.lines, [
    'stdout: before',
    'system: The stdout of the program could not be read further (EIO).',
  ]);
});

void test('a stream that was over before it was attached does not hold up the end', async () => {
  const { recorder, finish } = setUp();
  const [ended, destroyed] = [Readable.from([Buffer.from('x')]), new PassThrough()];
  ended.resume();
  await once(ended, 'end');
  destroyed.destroy();
  recorder.attach(ended, 'stdout');
  recorder.attach(destroyed, 'stderr');
  assert.deepEqual(await finish(), { lastSeq: 0 });
});

void test('a pipe that stays open after the program without a byte is shut after 5 s, and a line says so', async () => {
  const { store, clock, recorder, finish } = setUp();
  const stdout = new PassThrough();
  recorder.attach(stdout, 'stdout');
  stdout.write('first\nlast');
  await settle();
  const finished = finish();
  clock.advance(4999);
  stdout.write(' words');
  await settle();
  clock.advance(1);
  await settle();
  assert.equal(stdout.destroyed, false, 'it had written in that time');
  clock.advance(5000);
  await finished;
  assert.ok(stdout.destroyed);
  assert.deepEqual(store.lines, [
    'stdout: first',
    'stdout: last words',
    'system: The output is still open in a process that outlived the program; what it writes from now on is not kept.',
  ]);
});
