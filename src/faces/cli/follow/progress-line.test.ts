import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test, type TestContext } from 'node:test';
import { HandClock } from '../../../../test/support/clock.ts';
import { type Given, type Ran, svc } from '../../../../test/support/terminal.ts';
import { sendEvents, sendFailure, standIn } from '../../../../test/support/stand-in-server.ts';
import { ProgressLine } from './progress-line.ts';

const ID = 'job_01m7yd4zyke00anp2z332d2j5p';
const AT = '2026-11-21T12:00:00.000Z';
const CLEAR = '\r\u001b[2K';

interface Sent {
  readonly event: string;
  readonly id?: number;
  readonly data: string;
}

const partial = (text: string): Sent => ({
  event: 'partial',
  data: JSON.stringify({ type: 'partial', stream: 'stdout', text }),
});
const log = (seq: number, text: string): Sent => ({
  event: 'log',
  id: seq,
  data: JSON.stringify({ seq, at: AT, type: 'log', stream: 'stdout', text }),
});
const END: Sent = { event: 'end', data: JSON.stringify({ state: 'succeeded', exit_code: 0 }) };

async function tail(t: TestContext, events: readonly Sent[], given: Given, ...more: readonly string[]): Promise<Ran> {
  const server = await standIn(t, ({ url }, response) => {
    if (!url.includes('/stream')) return sendFailure(response, 'not_found');
    sendEvents(response, events);
    response.end();
  });
  const env = { SVC_TOKEN: 'svc_test', ...given.env };
  return svc(['job', 'tail', ID, '--remote', server.url, ...more], { ...given, env });
}

test('On a terminal an unfinished line is written over by the next, in its colours, and removed', async (t) => {
  const events = [partial('\u001b[32m1 %'), partial('2 %'), log(2, '\u001b[1mdone\u001b[0m'), partial('Sure? '), END];
  const ran = await tail(t, events, { columns: 80 });
  const over = (text: string): string => `${CLEAR}\u001b[?7l${text}\u001b[?7h`;
  assert.equal(ran.stderr, over('\u001b[32m1 %\u001b[0m') + over('2 %') + CLEAR + over('Sure? ') + CLEAR);
  assert.equal(ran.stdout, '\u001b[1mdone\u001b[0m\u001b[0m\n');
  const plain = await tail(t, events, { columns: 80, env: { NO_COLOR: '1' } });
  assert.equal(plain.stdout, 'done\n');
  assert.ok(plain.stderr.startsWith(over('1 %')));
});

test('Elsewhere an unfinished line is a marked line at once, then once it stays as it is, and each once', async () => {
  const clock = new HandClock();
  const stderr = new PassThrough();
  const moment = new ProgressLine({ stderr, clock, env: {} }, true);
  const said = (): string => String(stderr.read() ?? '');
  await moment.unfinished('\u001b[32m1 %');
  assert.equal(said(), '-- no line end yet: 1 %\n');
  for (const text of ['2 %', '3 %', '4 %']) {
    await moment.unfinished(text);
    clock.advance(1_999);
  }
  assert.equal(said(), '', 'a bar at work');
  clock.advance(1);
  assert.equal(said(), '-- no line end yet: 4 %\n');
  await moment.clear();
  await moment.unfinished('4 %');
  assert.equal(said(), '', 'the same after other lines');
  await moment.unfinished('Sure? ');
  assert.equal(said(), '-- no line end yet: Sure? \n');
  await moment.unfinished('Sure? y');
  await moment.clear();
  clock.advance(2_000);
  assert.equal(said(), '', 'its line has ended');
  assert.equal(clock.waiting, 0);
});

test('--output json has an unfinished line as the stream sent it, without a number', async (t) => {
  const events = [log(2, 'a'), partial('Sure? '), END];
  const { stdout } = await tail(t, events, {}, '--output', 'json');
  assert.equal(stdout, events.map(({ data }) => `${data}\n`).join(''));
});
