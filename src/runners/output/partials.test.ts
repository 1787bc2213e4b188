import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { setUp, settle } from '../../../test/support/output/recording.ts';
import { HeldDiff } from '../terraform/diff/diff-log.ts';

function attached(options: Parameters<typeof setUp>[0] = {}) {
  const made = setUp(options);
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  made.recorder.attach(stdout, 'stdout');
  made.recorder.attach(stderr, 'stderr');
  const print = async (text: string | Buffer, stream = stdout): Promise<void> => {
    stream.write(text);
    await settle();
  };
  const pass = async (ms: number): Promise<void> => {
    made.clock.advance(ms);
    await settle();
  };
  const end = async (): Promise<void> => {
    stdout.end();
    stderr.end();
    await made.finish();
  };
  return { ...made, stdout, stderr, print, pass, end };
}

void test('A line without an end is shown after 1 s, then at most once a second, as long as it changes', async () => {
  const { store, print, pass, end } = attached();
  await print('done\nPassword');
  await pass(999);
  assert.deepEqual(store.partials, []);
  await print(': ');
  await pass(1);
  assert.deepEqual(store.partials, ['stdout: Password: ']);
  await pass(5_000);
  await print('*');
  await print('*');
  await pass(0);
  await print('*');
  await pass(999);
  assert.deepEqual(store.partials.slice(1), ['stdout: Password: **']);
  await pass(1);
  assert.deepEqual(store.partials.slice(2), ['stdout: Password: ***']);
  await pass(60_000);
  assert.equal(store.partials.length, 3, 'what does not change is not written again');
  await end();
});

void test('Lines that end within 1 s, however many, show none, and leave no timer', async () => {
  const { store, clock, print, pass, end } = attached();
  for (let i = 0; i < 50; i += 1) {
    await print(`line ${i}`);
    await pass(100);
    await print('\n');
  }
  await end();
  assert.deepEqual(store.partials, []);
  assert.equal(clock.waiting, 0);
});

void test('The chunk with the end of the line removes it, and a stream that still waits is shown again', async () => {
  const { store, stderr, print, pass, end } = attached();
  await print('Sure? ');
  await pass(1_000);
  await print('50 %', stderr);
  await pass(1_000);
  assert.deepEqual(store.partials, ['stdout: Sure? ', 'stderr: 50 %']);
  await print('\n', stderr);
  assert.equal(store.partials.length, 2);
  await pass(50);
  assert.equal(store.chunks.at(-1)?.partial, null);
  assert.deepEqual(store.lines, ['stderr: 50 %']);
  await pass(1_000);
  assert.deepEqual(store.partials.slice(2), [null, 'stdout: Sure? ']);
  await end();
  assert.deepEqual(store.partials.slice(4), [null], 'the end of the stream ends the line');
  assert.equal(store.lines.at(-1), 'stdout: Sure? ');
});

void test('Of a bar the last state is shown, of a long line the end, and never half a character', async () => {
  const { store, print, pass, end } = attached();
  await print('\r 10 %\r 20 %');
  await pass(1_000);
  await print('\r \u001b[32m30 %\u001b[0m\r\r');
  await pass(1_000);
  assert.deepEqual(store.partials, ['stdout:  20 %', 'stdout:  \u001b[32m30 %\u001b[0m']);
  await print(Buffer.concat([Buffer.from(`\r${'ü'.repeat(3_000)}`), Buffer.from('€').subarray(0, 2)]));
  await pass(1_000);
  assert.equal(store.partials[2], `stdout: …${'ü'.repeat(2_048)}`);
  await print('\r');
  await pass(1_000);
  await print(Buffer.from('\n'));
  await pass(1_000);
  // A chunk of this size is compressed on another thread.
  for (let n = 0; store.chunks.length === 0 && n < 10_000; n += 1) await settle();
  await print('\r\r');
  await pass(1_000);
  assert.deepEqual(store.partials.slice(3), [null], 'an empty one is removed');
  await end();
});

void test('No beginning of what may be a secret is shown, whatever the cut, and never the secret', async () => {
  const secret = 'correct-horse-battery';
  for (let cut = 1; cut <= secret.length; cut += 1) {
    const { store, print, pass, end } = attached({ secrets: [Buffer.from(secret)] });
    await print(`key=${secret.slice(0, cut)}`);
    await pass(1_000);
    assert.deepEqual(store.partials, [`stdout: key=${cut === secret.length ? '[redacted · secret]' : ''}`]);
    await end();
  }
});

void test('T98: While lines of a plan are held, no unfinished line of its program is shown', async () => {
  const { store, clock, recorder, finish } = setUp();
  const [stdout, stderr, diff] = [new PassThrough(), new PassThrough(), new HeldDiff()];
  recorder.attach(stdout, 'stdout', diff);
  recorder.attach(stderr, 'stderr');
  const say = async (stream: PassThrough, text: string): Promise<void> => {
    stream.write(text);
    await settle();
    clock.advance(1_000);
    await settle();
  };
  await say(stderr, 'Acquiring');
  assert.deepEqual(store.partials, ['stderr: Acquiring']);
  await say(stdout, 'a.b: Refreshing state...\n  + secret = "');
  await say(stderr, ' the lock');
  assert.deepEqual(store.partials, ['stderr: Acquiring', 'stderr: Acquiring the lock'], 'progress holds nothing');
  await say(stdout, 'value"\n  + more = "');
  await say(stderr, ', still');
  assert.deepEqual(store.partials.slice(2), [null]);
  diff.take();
  await say(stderr, ' there');
  assert.deepEqual(store.partials.slice(3), ['stderr: Acquiring the lock, still there']);
  stdout.end();
  stderr.end();
  await finish();
});

void test('Output that is dropped is not shown either', async () => {
  const { store, stderr, print, pass, end } = attached({ capBytes: 10 });
  await print('Sure? ', stderr);
  await pass(1_000);
  await print('0123456789abc\nName: ');
  await pass(5_000);
  assert.deepEqual(store.partials, ['stderr: Sure? ', null]);
  await end();
});
