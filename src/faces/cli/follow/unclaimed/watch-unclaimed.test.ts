import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { hurriedClock, type Ran, svc } from '../../../../../test/support/terminal.ts';
import { sendEvents, sendFailure, sendJson, standIn } from '../../../../../test/support/stand-in-server.ts';

const ID = 'job_01m7yd4zyke00anp2z332d2j5p';
const AT = '2026-11-21T12:00:00.000Z';
const RUN = ['command', 'run', '--inventory', 'localhost', '--wait'];
const LIMIT_MS = 30_000;
const EXIT_BUSY = 7;

interface World {
  /** By the number of the look; a look that finds a cordon asks twice. */
  readonly nodes: (look: number) => readonly { readonly name: string; readonly state: string }[];
  /** Of the job; default queued. With an end the stream ends. */
  readonly state?: (look: number) => string;
  readonly node?: string;
  readonly isCordoned?: boolean;
  readonly restart?: string;
  /** Whether the server answers nothing about the job yet. */
  readonly isSilent?: () => boolean;
}

interface Waited extends Ran {
  readonly tookMs: number;
  readonly looks: number;
  /** What was said, without the events of the job. */
  readonly said: readonly string[];
}

/** A service with one job that no daemon has claimed. */
async function wait(t: TestContext, words: readonly string[], world: World): Promise<Waited> {
  let looks = 0;
  const state = (): string => world.state?.(looks) ?? 'queued';
  const exitCode = 0;
  const answers: Readonly<Record<string, () => readonly [kind: string, data: unknown]>> = {
    '/commands/run': () => ['job.enqueued', { job_id: ID, state: 'queued' }],
    [`/jobs/${ID}`]: () => ['job.get', { id: ID, state: state(), node: world.node ?? null, exit_code: exitCode }],
    [`/jobs/${ID}/result`]: () => ['command.result', { job_id: ID, state: state(), hosts: [] }],
    '/nodes': () => ['node.list', world.nodes(looks++)],
    '/maintenance/readiness': () => ['maintenance.readiness', { cordoned: world.isCordoned === true }],
    '/maintenance/restart': () => ['maintenance.restart', { state: world.restart ?? 'idle', node: 'one' }],
  };
  const server = await standIn(t, ({ url }, response) => {
    const path = url.replace('/api/v1', '').replace(/\?.*/, '');
    if (path === `/jobs/${ID}/stream`) {
      const data = JSON.stringify({ seq: 1, at: AT, type: 'state', state: 'queued', exit_code: null });
      sendEvents(response, [{ event: 'state', id: 1, data }]);
      const timer = setInterval(() => {
        if (!isOver(state())) return;
        sendEvents(response, [{ event: 'end', data: JSON.stringify({ state: state(), exit_code: exitCode }) }]);
        response.end();
      }, 1);
      response.on('close', () => clearInterval(timer));
      return;
    }
    if (path === `/jobs/${ID}` && world.isSilent?.() === true) return sendFailure(response, 'unavailable', 'starting');
    const answer = answers[path]?.();
    if (answer === undefined) return sendFailure(response, 'not_found', path);
    const [kind, data] = answer;
    sendJson(response, 200, `${JSON.stringify({ schema_version: 1, kind, data })}\n`);
  });
  const clock = hurriedClock();
  const startedAt = clock.monotonic();
  const ran = await svc([...words, '--remote', server.url, ...(words[0] === 'command' ? ['--', 'true'] : [])], {
    env: { SVC_TOKEN: 'svc_test' },
    clock,
  });
  const stderr = ran.stderr.replaceAll(` --remote ${server.url}`, '');
  const said = stderr.split('\n').filter((line) => line !== '' && !/^(-- |Queued job)/.test(line));
  return { ...ran, stderr, said, looks, tookMs: clock.monotonic() - startedAt };
}

const isOver = (state: string): boolean => state !== 'queued' && state !== 'awaiting_approval';
const one = (state: string) => () => [{ name: 'one', state }];
const both = () => [...one('running')(), { name: 'two', state: 'gone' }];

test('--wait ends after 30s without a daemon, and names the job and the next commands', async (t) => {
  const fact = `No daemon runs, so job ${ID} stays queued. Start one: svc serve.`;
  const advice = `Wait again: svc job wait ${ID}. Cancel it: svc job cancel ${ID}.`;
  for (const words of [RUN, ['job', 'tail', ID], ['job', 'wait', ID]]) {
    const { exitCode, said, tookMs } = await wait(t, words, { nodes: one('gone') });
    assert.equal(exitCode, EXIT_BUSY);
    assert.deepEqual(said.slice(0, 2), [`${fact} Waiting for up to 30s.`, `Error: ${fact} ${advice}`], words.join(' '));
    assert.ok(tookMs >= LIMIT_MS, `${words.join(' ')} took ${tookMs}`);
  }
});

test('job tail: a job that no daemon takes is mentioned, but not while the server has said nothing yet', async (t) => {
  let asked = 0;
  const silentQuestions = 3;
  const world = { nodes: one('gone'), isSilent: () => asked++ < silentQuestions };
  const { said, looks, tookMs } = await wait(t, ['job', 'tail', ID], world);
  assert.match(said[0] ?? '', /^No daemon runs, so job /);
  assert.equal(looks, 1 + LIMIT_MS / 1_500);
  // The 30s begin when the server says that no daemon runs.
  assert.ok(tookMs >= LIMIT_MS + silentQuestions * 1_500, String(tookMs));
});

test('--wait --output json: the failure of a job that no daemon takes is on standard output', async (t) => {
  const { exitCode, stdout } = await wait(t, [...RUN, '--output', 'json'], { nodes: () => [] });
  assert.equal(exitCode, EXIT_BUSY);
  const { error } = JSON.parse(stdout) as { error: { code: string; message: string } };
  assert.equal(error.code, 'unavailable');
  assert.match(error.message, new RegExp(`^No daemon runs, so job ${ID} stays queued\\.`));
});

test('under a cordon, and for a daemon that does not run, the first look says so, and the wait ends too', async (t) => {
  const uncordon = 'Lift the cordon: svc maintenance uncordon';
  for (const [world, fact] of [
    [{ nodes: one('cordoned'), isCordoned: true }, `The service is cordoned, so job ${ID} stays queued. ${uncordon}.`],
    [{ nodes: one('cordoned') }, `The daemon "one" is cordoned, so job ${ID} stays queued. ${uncordon} --node one.`],
    [{ nodes: both, node: 'two' }, `The daemon "two" does not run, so job ${ID} stays queued. Start it.`],
  ] as const) {
    const { exitCode, said, looks } = await wait(t, RUN, world);
    assert.equal(exitCode, EXIT_BUSY);
    assert.equal(said[0], `${fact} Waiting for up to 30s.`);
    assert.ok(said[1]?.startsWith(`Error: ${fact}`), said.join('\n'));
    assert.equal(looks, (1 + LIMIT_MS / 1_500) * (world.nodes === both ? 1 : 2));
  }
});

test('a cordon that is lifted while a look asks for it is not mentioned', async (t) => {
  const { exitCode, said } = await wait(t, RUN, {
    nodes: (look) => one(look === 0 ? 'cordoned' : 'running')(),
    state: (look) => (look < 3 ? 'queued' : 'succeeded'),
  });
  assert.deepEqual([exitCode, said], [0, []]);
});

test('a daemon whose cordon was lifted has 5s to take the job before it counts as busy', async (t) => {
  const lifted = 20;
  const { exitCode, said } = await wait(t, RUN, {
    nodes: (look) => one(look < lifted ? 'cordoned' : 'running')(),
    state: (look) => (look < lifted + 2 ? 'queued' : 'succeeded'),
  });
  assert.equal(exitCode, 0);
  assert.deepEqual(
    said.map((each) => each.split(',')[0]),
    ['The daemon "one" is cordoned'],
  );
});

test('a daemon that comes back within the 30s starts them again', async (t) => {
  const lookOfReturn = 15;
  const nodes = (look: number) => one(look === lookOfReturn ? 'running' : 'gone')();
  const { exitCode, looks } = await wait(t, RUN, { nodes });
  assert.equal(exitCode, EXIT_BUSY);
  assert.equal(looks, lookOfReturn + 2 + LIMIT_MS / 1_500);
});

test('a wait continues while the daemons are busy, while one restarts in place, and until a decision', async (t) => {
  const long = 100;
  const ends = (before: string) => (look: number) => (look < long ? before : 'succeeded');
  for (const [world, said] of [
    [
      { nodes: one('running'), state: ends('queued') },
      [`Job ${ID} is still queued: the daemons are busy, or another job holds its concurrency key.`],
    ],
    [
      { nodes: one('cordoned'), restart: 'draining', state: ends('queued') },
      [`The daemon "one" restarts in place, so job ${ID} stays queued. Waiting for it.`],
    ],
  ] as const) {
    const waited = await wait(t, RUN, world);
    assert.equal(waited.exitCode, 0, waited.stderr);
    assert.deepEqual(waited.said, said);
    assert.ok(waited.tookMs > LIMIT_MS);
  }
  // A job that waits for a decision needs no daemon, so that none is looked for.
  let asked = 0;
  const approval = await wait(t, ['job', 'wait', ID], {
    nodes: one('gone'),
    state: () => (asked++ < long ? 'awaiting_approval' : 'succeeded'),
  });
  assert.deepEqual([approval.exitCode, approval.said, approval.looks], [0, [], 0]);
});
