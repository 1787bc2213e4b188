import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { test, type TestContext } from 'node:test';
import { hurriedClock, svc } from '../../../../test/support/terminal.ts';
import {
  type Seen,
  sendEvents,
  sendFailure,
  sendJson,
  standIn,
  type StandIn,
} from '../../../../test/support/stand-in-server.ts';
import { exitCodeOfJob } from './follow.ts';
import { RESUME_TRIES } from '../connection/remote.ts';

const ID = 'job_01m7yd4zyke00anp2z332d2j5p';
const AT = '2026-11-21T12:00:00.000Z';
const TOKEN = { SVC_TOKEN: 'svc_test' };
const RUN = ['command', 'run', '--inventory', 'localhost', '--wait'];

interface Sent {
  readonly event: string;
  readonly id?: number;
  readonly data: string;
}

const state = (id: number, name: string, code: number | null = null): Sent => ({
  event: 'state',
  id,
  data: JSON.stringify({ seq: id, at: AT, type: 'state', state: name, exit_code: code }),
});
const log = (id: number, stream: string, text: string): Sent => ({
  event: 'log',
  id,
  data: JSON.stringify({ seq: id, at: AT, type: 'log', stream, text }),
});
const end = (name: string, code: number | null): Sent => ({
  event: 'end',
  data: JSON.stringify({ state: name, exit_code: code }),
});

const EVENTS: readonly Sent[] = [
  state(1, 'queued'),
  state(2, 'running'),
  log(3, 'stdout', 'out \u001b[2J'),
  log(4, 'stderr', 'err'),
  log(5, 'system', 'note'),
  { event: 'progress', id: 6, data: JSON.stringify({ seq: 6, at: AT, type: 'progress', play: 'all', task: 'copy' }) },
  state(7, 'failed', 3),
  end('failed', 3),
];
const RESULT = `{"schema_version":1,"kind":"command.result","data":{"job_id":"${ID}","state":"failed","hosts":[]}}\n`;

function envelope(kind: string, data: unknown): string {
  return `${JSON.stringify({ schema_version: 1, kind, data })}\n`;
}

/** A server with one job; `stream` answers its stream and gets the number of earlier requests. */
function jobServer(
  t: TestContext,
  stream: (response: ServerResponse, request: Seen, before: number) => void,
): Promise<StandIn> {
  let asked = 0;
  return standIn(t, (request, response) => {
    const path = request.url.replace('/api/v1', '').replace(/\?.*/, '');
    if (path === '/commands/run') sendJson(response, 202, envelope('job.enqueued', { job_id: ID, state: 'queued' }));
    else if (path === `/jobs/${ID}/stream`) stream(response, request, asked++);
    else if (path === `/jobs/${ID}/result`) sendJson(response, 200, RESULT);
    else sendFailure(response, 'not_found');
  });
}

/** Without the looks for a daemon. */
function streamsOf({ seen }: StandIn): Seen[] {
  return seen.filter(({ url }) => url.includes('/stream'));
}

function whole(response: ServerResponse): void {
  sendEvents(response, EVENTS);
  response.end();
}

test('job tail: output is written to the stream of the job, made safe; other events to standard error', async (t) => {
  const server = await jobServer(t, whole);
  const ran = await svc(['job', 'tail', ID, '--remote', server.url], { env: TOKEN });
  assert.deepEqual(ran, {
    exitCode: 0,
    stdout: 'out \n',
    stderr: '-- queued\n-- running\nerr\n-- note\n-- failed, exit code 3\n',
  });
  const shown = await svc(['job', 'tail', ID, '--remote', server.url], { env: TOKEN, columns: 80 });
  assert.ok(
    shown.stderr.endsWith('-- note\n\r\u001b[2K\u001b[?7l… all: copy\u001b[?7h\r\u001b[2K-- failed, exit code 3\n'),
    'on a terminal progress is one line, and is removed',
  );
});

test('job tail --output json: one event per line, as the stream sent it', async (t) => {
  const server = await jobServer(t, whole);
  const ran = await svc(['job', 'tail', ID, '--since', '0', '--output', 'json', '--remote', server.url], {
    env: TOKEN,
  });
  assert.equal(ran.stdout, EVENTS.map(({ data }) => `${data}\n`).join(''));
  assert.equal(ran.stderr, '');
});

test('command run --wait: the output of the job is ours, and so is its exit code', async (t) => {
  const server = await jobServer(t, whole);
  const ran = await svc([...RUN, '--remote', server.url, '--', 'false'], { env: TOKEN });
  assert.equal(ran.exitCode, 3);
  assert.equal(ran.stdout, 'out \n');
  assert.match(ran.stderr, new RegExp(`^Queued job ${ID}\\.\\n-- queued\\n`));
});

test('command run --wait --output json: the result is on standard output, the output on standard error', async (t) => {
  const server = await jobServer(t, whole);
  const ran = await svc([...RUN, '--output', 'json', '--remote', server.url, '--', 'false'], { env: TOKEN });
  assert.equal(ran.exitCode, 3);
  assert.equal(ran.stdout, RESULT);
  assert.match(ran.stderr, /\nout .*\nerr\n/);
});

test('command run --wait: an approval that is pending is a success, and nothing is followed', async (t) => {
  const body = envelope('approval.pending', { approval_id: 'apr_1' });
  const server = await standIn(t, (_, response) => sendJson(response, 202, body));
  const ran = await svc([...RUN, '--output', 'json', '--remote', server.url, '--', 'id'], { env: TOKEN });
  assert.deepEqual(ran, { exitCode: 0, stdout: body, stderr: '' });
});

test('a stream that breaks is taken up after the last event, and no event is shown twice', async (t) => {
  const server = await jobServer(t, (response, _, before) => {
    sendEvents(response, before === 0 ? EVENTS.slice(0, 3) : EVENTS.slice(2));
    if (before === 0) setImmediate(() => response.destroy());
    else response.end();
  });
  const clock = hurriedClock();
  const ran = await svc(['job', 'tail', ID, '--since', '0', '--output', 'json', '--remote', server.url], {
    env: TOKEN,
    clock,
  });
  assert.equal(ran.exitCode, 0);
  assert.equal(ran.stdout, EVENTS.map(({ data }) => `${data}\n`).join(''));
  assert.deepEqual(
    streamsOf(server).map(({ url, headers }) => [url, headers['last-event-id']]),
    [
      [`/api/v1/jobs/${ID}/stream?since=0`, undefined],
      [`/api/v1/jobs/${ID}/stream`, '3'],
    ],
  );
  assert.ok(clock.pausesMs.includes(1_000));
});

test('a stream that breaks again and again without news is given up: exit 7', async (t) => {
  const server = await jobServer(t, (response, _, before) => {
    sendEvents(response, before === 0 ? EVENTS.slice(0, 2) : []);
    setImmediate(() => response.destroy());
  });
  const ran = await svc(['job', 'tail', ID, '--remote', server.url], { env: TOKEN });
  assert.equal(ran.exitCode, 7);
  assert.equal(streamsOf(server).length, RESUME_TRIES + 1);
  assert.match(ran.stderr, /could not be resumed\.\n/);
});

test('a stream that the server ends after its time is resumed, however often and however quiet the job is', async (t) => {
  const hurried = hurriedClock();
  let lastedMs = 0;
  const clock = { ...hurried, monotonic: () => hurried.monotonic() + lastedMs };
  const server = await jobServer(t, (response, _, before) => {
    if (before > 0) lastedMs += 900_000;
    sendEvents(response, before === 0 ? EVENTS.slice(0, 2) : before > 2 * RESUME_TRIES ? EVENTS.slice(2) : []);
    response.end();
  });
  const ran = await svc(['job', 'tail', ID, '--remote', server.url], { env: TOKEN, clock });
  assert.equal(ran.exitCode, 0);
  assert.equal(streamsOf(server).length, 2 * RESUME_TRIES + 2);
  assert.deepEqual(ran.stderr.match(/interrupted/g)?.length, 1, 'only the first, which lasted no time');
});

test('a stream of another job, or without a right to it, is refused at once', async (t) => {
  for (const [code, exit] of [
    ['not_found', 3],
    ['unauthenticated', 4],
  ] as const) {
    const server = await jobServer(t, (response) => sendFailure(response, code));
    assert.equal((await svc(['job', 'tail', ID, '--remote', server.url], { env: TOKEN })).exitCode, exit);
    assert.equal(server.seen.length, 1);
  }
});

test('where all streams are taken, a terminal gets the events in batches up to the same end, and a script exit 7', async (t) => {
  let looks = 0;
  const server = await standIn(t, ({ url }, response) => {
    const path = url.replace('/api/v1', '');
    if (path.startsWith(`/jobs/${ID}/stream`)) return sendFailure(response, 'streams_over_cap');
    if (path === `/jobs/${ID}`)
      return sendJson(
        response,
        200,
        envelope('job.get', looks++ < 2 ? { state: 'running', exit_code: null } : { state: 'failed', exit_code: 3 }),
      );
    const since = Number(new URL(url, 'http://h').searchParams.get('since'));
    const batch = EVENTS.flatMap(({ id, data }) =>
      id === undefined || id <= since || (looks < 2 && id > 4) ? [] : [JSON.parse(data) as unknown],
    );
    return sendJson(response, 200, envelope('job.events', batch));
  });
  const tail = ['job', 'tail', ID, '--output', 'json', '--remote', server.url];
  const ran = await svc(tail, { env: TOKEN, columns: 80 });
  assert.equal(ran.stdout, EVENTS.map(({ data }) => `${data}\n`).join(''));
  assert.match(ran.stderr, /^All streams of the server are in use; polling every 1s instead\./);
  assert.equal(ran.exitCode, 0);
  const script = await svc(tail, { env: TOKEN });
  assert.equal(script.exitCode, 7);
  assert.match(script.stdout, /"code":"streams_over_cap"/);
});

test('point 38: Ctrl-C detaches: the job continues, how to resume is shown, and the exit code is 130', async (t) => {
  const keys: (() => void)[] = [];
  const server = await jobServer(t, (response) => {
    sendEvents(response, EVENTS.slice(0, 4));
    setImmediate(() => keys.forEach((press) => press()));
  });
  const interruptible = (press: () => void): void => void keys.push(press);
  const ran = await svc([...RUN, '--remote', server.url, '--', 'sleep', '9'], { env: TOKEN, interruptible });
  assert.equal(ran.exitCode, 130);
  assert.match(
    ran.stderr,
    new RegExp(
      `Detached; job ${ID} continues\\. Resume with: svc job tail ${ID} --since \\d --remote ${server.url}\\n$`,
    ),
  );
  assert.deepEqual(
    server.seen.filter(({ url }) => url.includes('cancel')),
    [],
  );
});

test('job wait: looks until the job has ended, shows it, and exits with its exit code', async (t) => {
  let looks = 0;
  const done = envelope('job.get', { id: ID, state: 'failed', exit_code: 9 });
  const server = await standIn(t, (_, response) => {
    looks += 1;
    if (looks === 2) sendFailure(response, 'unavailable');
    else sendJson(response, 200, looks < 4 ? envelope('job.get', { id: ID, state: 'running', exit_code: null }) : done);
  });
  const ran = await svc(['job', 'wait', ID, '--output', 'json', '--remote', server.url], { env: TOKEN });
  assert.deepEqual(ran, { exitCode: 9, stdout: done, stderr: '' });
  assert.equal(looks, 4);
});

test('job wait --timeout: gives up with 7 and leaves the job alone; an unknown job is 3 at once', async (t) => {
  const running = await standIn(t, (_, response) =>
    sendJson(response, 200, envelope('job.get', { id: ID, state: 'running', exit_code: null })),
  );
  const late = await svc(['job', 'wait', ID, '--timeout', '3s', '--remote', running.url], { env: TOKEN });
  assert.equal(late.exitCode, 7);
  assert.match(late.stderr, /is still running; it continues/);
  const unknown = await standIn(t, (_, response) => sendFailure(response, 'not_found'));
  assert.equal((await svc(['job', 'wait', ID, '--remote', unknown.url], { env: TOKEN })).exitCode, 3);
  assert.equal(
    (await svc(['job', 'wait', ID, '--timeout', 'soon', '--remote', running.url], { env: TOKEN })).exitCode,
    1,
  );
});

test('the exit code of a job is ours; without one it is 1, and no failure is ever 0', () => {
  const cases = [
    ['succeeded', 0, 0],
    ['succeeded', null, 0],
    ['degraded', 4, 4],
    ['failed', 3, 3],
    ['failed', 137, 137],
    ['failed', null, 1],
    ['cancelled', null, 1],
    ['cancelled', 0, 1],
    ['interrupted', null, 1],
    ['failed', 256, 1],
    ['failed', -1, 1],
  ] as const;
  for (const [state, code, exit] of cases)
    assert.equal(exitCodeOfJob({ state, exit_code: code }), exit, `${state} ${code}`);
});
