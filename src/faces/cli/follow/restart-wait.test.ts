import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { sendFailure, sendJson, standIn } from '../../../../test/support/stand-in-server.ts';
import { hurriedClock, type Ran, svc } from '../../../../test/support/terminal.ts';

type Answered = readonly [state: string, running: number, reason: string | null];

/** Waits for a restart whose state is answered like that, one answer after another; then the server is gone. */
async function wait(t: TestContext, answers: readonly Answered[], ...flags: string[]): Promise<Ran> {
  let asked = 0;
  const server = await standIn(t, ({ url }, response) => {
    if (url.endsWith('/nodes')) return sendFailure(response, 'unavailable');
    const now = answers[asked++];
    if (now === undefined) return void response.destroy();
    const [state, running, reason] = now;
    const times = { requested_at: null, drain_deadline: null, finished_at: null };
    const data = {
      state,
      cordoned: true,
      in_flight: running,
      ...times,
      reason,
      node: 'one',
      forced: false,
      running: [],
    };
    sendJson(response, 200, `${JSON.stringify({ schema_version: 1, kind: 'maintenance.restart', data })}\n`);
  });
  const words = ['maintenance', 'restart', '--wait', '--remote', server.url, ...flags];
  return svc(words, { env: { SVC_TOKEN: 'svc_test' }, clock: hurriedClock() });
}

test('restart --wait: names each step, and ends when the new program runs', async (t) => {
  const ran = await wait(t, [
    ['requested', 1, null],
    ['draining', 1, null],
    ['draining', 0, null],
    ['idle', 0, null],
  ]);
  assert.equal(ran.exitCode, 0, ran.stderr);
  const steps = ['The new program is tried.', 'Waiting: 1 job runs.', 'The new program starts.'];
  assert.equal(ran.stderr, [...steps, 'The new program has started.', ''].join('\n'));
});

test('restart --wait: says that the new program has started, however short its steps were', async (t) => {
  const ran = await wait(t, [
    ['requested', 0, null],
    ['idle', 0, null],
  ]);
  assert.equal(ran.exitCode, 0, ran.stderr);
  assert.equal(ran.stderr, 'The new program is tried.\nThe new program has started.\n');
});

test('restart --wait: ends with the reason where it was aborted, without a deadline', async (t) => {
  const ran = await wait(t, [
    ['draining', 0, null],
    ['aborted', 0, 'the new program ended before it was ready'],
  ]);
  assert.equal(ran.exitCode, 5);
  assert.match(ran.stderr, /The restart was aborted: the new program ended before it was ready\./);
});

test('restart --wait: ends where a daemon whose new program starts answers no more', async (t) => {
  const ran = await wait(t, [['draining', 0, null]]);
  assert.equal(ran.exitCode, 7);
  assert.match(ran.stderr, /The new program did not report; look at the log of the service\./);
  const draining = await wait(t, [['draining', 1, null]]);
  assert.equal(draining.exitCode, 7);
  assert.doesNotMatch(draining.stderr, /new program did not report/, 'it was not started');
});
