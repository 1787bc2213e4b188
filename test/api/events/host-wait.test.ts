/** Host requests that wait for their job: how a wait ends, what it may take, and that nothing is left of it. */
import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { describe, test } from 'node:test';
import { type Clock, systemClock } from '../../../src/lib/clock.ts';
import type { Services } from '../../../src/operations/core/services.ts';
import { switchRule } from '../../../src/store/rules/rules.ts';
import { until } from '../../support/api-client.ts';
import { rewrite } from '../../support/store/rewrite.ts';
import { type Program, startProgram } from '../../support/program.ts';
import { open } from '../../support/raw-http.ts';
import { type Received, send } from '../../support/scenario.ts';
import { dataOf, REQUESTS, rule } from '../scenarios/hosts.ts';

const ANY_REQUEST = { when: 'event.source == "host"' };

function waitFor(program: Program, request: string, { timeout = '30s', key = '' } = {}): Promise<Received> {
  const headers = key === '' ? {} : { 'idempotency-key': key };
  return send(program, 'host', {
    method: 'POST',
    path: `${REQUESTS}?wait=true&timeout=${timeout}`,
    headers,
    body: { request },
  });
}

async function countOf(program: Program, table: 'jobs' | 'events'): Promise<number> {
  return (await program.store.db.selectFrom(table).select('id').execute()).length;
}

async function onlyJob(program: Program): Promise<string> {
  await until('there is a job', async () => (await countOf(program, 'jobs')) === 1);
  return (await program.store.db.selectFrom('jobs').select('id').executeTakeFirstOrThrow()).id;
}

async function disconnects(program: Program): Promise<(string | null)[]> {
  const noted = program.store.db.selectFrom('ledger').select('target').where('operation', '=', 'host.disconnected');
  return (await noted.orderBy('target').execute()).map(({ target }) => target);
}

test('A wait ends with the job, and answers its state and exit code', async (t) => {
  const program = await startProgram(t);
  await rule(program);
  const answer = waitFor(program, 'clean');
  const job = await onlyJob(program);
  await program.claim();
  await program.finish(job, { state: 'degraded', exitCode: 4 });
  const { status } = await answer;
  const { job_id: id, job_state: state, exit_code: code } = dataOf(await answer);
  assert.deepEqual([status, id, state, code], [200, job, 'degraded', 4]);
});

test('A request meets the current rule, also if another process has just changed it', async (t) => {
  const program = await startProgram(t);
  await rule(program);
  const { rules } = program.services.reaction;
  const current = rules.current.bind(rules);
  let old: Awaited<ReturnType<typeof current>> | null = await current();
  t.mock.method(rules, 'current', async () => old ?? current());
  t.mock.method(rules, 'forget', () => (old = null));
  await program.store.write((tx) => switchRule(tx, 'clean', { enabled: false }));
  const answer = await send(program, 'host', { method: 'POST', path: REQUESTS, body: { request: 'clean' } });
  assert.deepEqual([answer.status, dataOf(answer).outcome], [200, 'ignored']);
});

test('A wait ends with a job that was cancelled before it ran, without an exit code', async (t) => {
  const program = await startProgram(t);
  await rule(program, { approval: 'required' });
  const answer = waitFor(program, 'clean');
  const job = await onlyJob(program);
  const { status } = await send(program, 'operator', { method: 'POST', path: `/api/v1/jobs/${job}/cancel` });
  assert.equal(status, 200);
  const data = dataOf(await answer);
  assert.equal(data.job_state, 'cancelled');
  assert.ok(!('exit_code' in data));
});

for (const postgres of [false, true]) {
  const on = postgres ? 'PostgreSQL' : 'SQLite';
  for (const [how, end] of [
    ['revoked', (program: Program) => program.revoke(program.tokens.host)],
    [
      'expired',
      (program: Program) =>
        rewrite(program.store, 'tokens', { expires_at: Date.now() - 1 }, `tok_${program.tokens.host.split('_')[1]}`),
    ],
  ] as const) {
    test(`A wait whose token is ${how} ends with 401 and the job stays queued, on ${on}`, async (t) => {
      const program = await startProgram(t, { postgres, limits: { revalidateMs: 20 } });
      await rule(program);
      const answer = waitFor(program, 'clean', { timeout: '5m' });
      const job = await onlyJob(program);
      await end(program);
      const { status, text } = await answer;
      assert.equal(status, 401);
      assert.match(text, /was revoked or has expired while the request waited/);
      assert.doesNotMatch(text, new RegExp(job));
      await until('no request waits', () => program.face.load().waits === 0);
      const { state } = await program.store.db
        .selectFrom('jobs')
        .select('state')
        .where('id', '=', job)
        .executeTakeFirstOrThrow();
      assert.equal(state, 'queued');
    });
  }
}

test('A wait for a job that needs approval continues after the approval', async (t) => {
  const program = await startProgram(t);
  await rule(program, { approval: 'required' });
  const answer = waitFor(program, 'clean');
  const job = await onlyJob(program);
  const { id } = await program.store.db.selectFrom('approvals').select('id').executeTakeFirstOrThrow();
  const decided = await send(program, 'approve', {
    method: 'POST',
    path: `/api/v1/approvals/${id}/decision`,
    body: { decision: 'approve' },
  });
  assert.equal(decided.status, 200, decided.text);
  await program.claim();
  await program.finish(job, { state: 'succeeded', exitCode: 0 });
  assert.deepEqual(
    [dataOf(await answer).outcome, dataOf(await answer).job_state, dataOf(await answer).exit_code],
    ['gated', 'succeeded', 0],
  );
});

test('F30: a listener that closes answers each wait with the current state and leaves the job untouched', async (t) => {
  const program = await startProgram(t);
  await rule(program);
  const answer = waitFor(program, 'clean', { timeout: '5m' });
  const job = await onlyJob(program);
  await program.face.close(10_000);
  assert.deepEqual(
    [(await answer).status, dataOf(await answer).job_id, dataOf(await answer).job_state],
    [202, job, 'pending'],
  );
  assert.deepEqual(await disconnects(program), []);
});

test('One token may wait 16 times, and a refused request has no effect', async (t) => {
  const program = await startProgram(t);
  await rule(program, ANY_REQUEST);
  const waits = Array.from({ length: 16 }, (_each, n) => waitFor(program, `r${n}`));
  await until('16 have asked', async () => (await countOf(program, 'jobs')) === 16);
  const refused = await waitFor(program, 'one too many');
  assert.deepEqual([refused.status, refused.headers.get('retry-after')], [503, '1']);
  assert.match(
    refused.text,
    new RegExp(
      String.raw`"code":"unavailable","message":"At most 256 requests may wait at a time, and 16 of one ` +
        String.raw`token\. Nothing was asked for`,
    ),
  );
  assert.equal(await countOf(program, 'events'), 16);
  const other = await send(program, 'host', { method: 'POST', path: REQUESTS, body: { request: 'without wait' } });
  assert.equal(other.status, 202);
  await program.face.close(10_000);
  assert.deepEqual(new Set((await Promise.all(waits)).map((each) => dataOf(each).job_state)), new Set(['pending']));
});

/** A clock that knows its timers, and the same for who follows jobs. */
function counting(): {
  clock: Clock;
  readonly timers: number;
  watch(services: Services): void;
  readonly follows: number;
} {
  let timers = 0;
  let follows = 0;
  return {
    clock: {
      ...systemClock,
      after(ms, fire) {
        let live = true;
        const over = (): void => {
          timers -= live ? 1 : 0;
          live = false;
        };
        timers += 1;
        const cancel = systemClock.after(ms, () => {
          over();
          fire();
        });
        return () => {
          over();
          cancel();
        };
      },
    },
    get timers() {
      return timers;
    },
    get follows() {
      return follows;
    },
    watch(services) {
      const jobChanged = services.jobChanged.bind(services);
      Object.assign(services, {
        async jobChanged(jobId: string, signal: AbortSignal): Promise<void> {
          follows += 1;
          await jobChanged(jobId, signal);
          follows -= 1;
        },
      });
    },
  };
}

const ROUNDS = 30;
const AT_A_TIME = 10;

function sockets(): number {
  return process.getActiveResourcesInfo().filter((name) => name.startsWith('TCPSocket')).length;
}

async function leaveWaiting(program: Program, round: number): Promise<void> {
  const leaving: Socket[] = [];
  for (let n = 0; n < AT_A_TIME; n += 1) {
    const body = JSON.stringify({ request: `r${round}-${n}` });
    const socket = await open(program.port);
    const head =
      `POST ${REQUESTS}?wait=1&timeout=5m HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ` +
      `${program.tokens.host}\r\nContent-Type: application/json\r\n`;
    socket.write(`${head}Content-Length: ${body.length}\r\n\r\n${body}`);
    leaving.push(socket);
  }
  await until('all of them have asked', async () => (await countOf(program, 'events')) === (round + 1) * AT_A_TIME);
  for (const socket of leaving) socket.destroy();
  await until('no request waits', () => program.face.load().waits === 0);
}

test(`F30: of ${ROUNDS * AT_A_TIME} clients that vanish only a note in the ledger is left; jobs go on`, async (t) => {
  const counts = counting();
  const program = await startProgram(t, { clock: counts.clock });
  counts.watch(program.services);
  await rule(program, ANY_REQUEST);
  await send(program, 'readonly', { method: 'GET', path: '/api/v1/whoami' });
  // One timer is the store's own: it looks for what other processes wrote.
  const before = { sockets: sockets(), timers: counts.timers };
  for (let round = 0; round < ROUNDS; round += 1) await leaveWaiting(program, round);
  await until('the connections are gone', () => program.face.load().connections <= 1 && sockets() <= before.sockets);
  await until('their timers are gone', () => counts.timers <= before.timers);
  assert.equal(counts.follows, 0);
  const jobs = await program.store.db.selectFrom('jobs').select(['id', 'state']).orderBy('id').execute();
  assert.equal(jobs.length, ROUNDS * AT_A_TIME);
  assert.deepEqual(new Set(jobs.map(({ state }) => state)), new Set(['queued']));
  assert.deepEqual(
    await disconnects(program),
    jobs.map(({ id }) => id),
  );
  // Their places are free again, and nothing was logged as a fault.
  const pending = await waitFor(program, 'after all', { timeout: '1ms' });
  assert.equal(dataOf(pending).job_state, 'pending');
  assert.deepEqual(program.logged, []);
});

for (const postgres of [false, true]) {
  describe(postgres ? 'On PostgreSQL' : 'On SQLite', () => {
    test('F30: a repeat with the key waits for the original job, and ten at once make one job', async (t) => {
      const program = await startProgram(t, { postgres });
      await rule(program);
      const waits = Array.from({ length: 10 }, () => waitFor(program, 'clean', { key: 'k' }));
      const job = await onlyJob(program);
      const late = waitFor(program, 'clean', { key: 'k' });
      await program.claim();
      await program.finish(job, { state: 'succeeded', exitCode: 0 });
      const answers = await Promise.all([...waits, late]);
      assert.equal(new Set(answers.map(({ text }) => text)).size, 1, answers.map(({ text }) => text).join(''));
      const first = dataOf(await late);
      assert.deepEqual([first.job_id, first.job_state], [job, 'succeeded']);
      assert.deepEqual([await countOf(program, 'jobs'), await countOf(program, 'events')], [1, 1]);
    });
  });
}
