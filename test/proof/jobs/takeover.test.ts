/** Two daemons on one PostgreSQL: a lease decides which one may act, and a daemon that lost it changes nothing. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { check } from '../../night/chaos/checker.ts';
import { readHistory } from '../../night/chaos/history.ts';
import { type Api, type ApiAnswer, until } from '../../support/api-client.ts';
import type { RunningDaemon } from '../../support/daemon.ts';
import { openFixture, processesOf, type Fixture } from '../../support/fixtures/installation.ts';

/** A daemon that is late by 60 % of it ends its jobs: with 2 s a busy machine made that happen by itself. */
const LEASE_MS = 6_000;
/** Beyond the lease: a pass of the others every 2 s, and the work. */
const MARGIN_MS = 5_000;
/** Where a start takes seconds, this takes longer too. */
const MARGIN_STARTS = 2;
const ROUNDS = 5;
const PARALLEL = 200;

function start(fixture: Fixture, name: string, leaseMs: number = LEASE_MS): Promise<RunningDaemon> {
  return fixture.start({ dataDir: join(fixture.dir, name), args: ['--lease', `${leaseMs}ms`] });
}

/** From the last sign of a daemon until this one has taken its jobs over. */
function limitMs({ startMs }: RunningDaemon): number {
  return LEASE_MS + Math.max(MARGIN_MS, MARGIN_STARTS * startMs);
}

describe('on a shared PostgreSQL', () => {
  test('F03: a frozen daemon loses its jobs only when their trees are dead', async (t) => {
    const fixture = await openFixture(t, { postgres: true });
    const a = await start(fixture, 'a');
    const held = await fixture.queue({ command: fixture.witness.command('k', 60), key: 'k' });
    await until('the tool has started', () => fixture.witness.starts(held) === 1);
    const b = await start(fixture, 'b');
    const next = await fixture.queue({ command: fixture.witness.command('k', 0), key: 'k' });
    const frozenAtMs = Date.now();
    a.freeze();
    await fixture.waitFor(next, ['succeeded']);
    const tookOver = fixture.witness.lines().find((line) => line.what === 'start' && line.jobId === next);
    const tookMs = (tookOver?.atMs ?? Number.NaN) - frozenAtMs;
    assert.ok(tookMs <= limitMs(b), `the key was used again after ${tookMs} ms, not ${limitMs(b)} ms`);
    const interrupted = await fixture.row(held);
    assert.equal(interrupted.state, 'interrupted');

    a.thaw();
    await until('a has seen that it lost its lease', () => a.log().includes('lost lease'));
    await b.stop();
    const last = await fixture.queue({ command: fixture.witness.command('k', 0), key: 'k' });
    assert.equal((await a.api(fixture.token).waitFor(last)).state, 'succeeded');
    // The first daemon that sees the end records it as an event: that is not a change of the job.
    const anyEvent = { outcome_event_id: null };
    assert.deepEqual({ ...(await fixture.row(held)), ...anyEvent }, { ...interrupted, ...anyEvent });
    assert.deepEqual(check(await readHistory(fixture, { enqueued: [], cancelled: [], observed: [] })), []);
  });

  test('F03: a daemon that alone outsleeps its lease ends its own jobs and works on', async (t) => {
    const fixture = await openFixture(t, { postgres: true });
    const a = await start(fixture, 'a');
    const held = await fixture.queue({ command: fixture.witness.command('k', 60), key: 'k' });
    await until('the tool has started', () => fixture.witness.starts(held) === 1);
    const next = await fixture.queue({ command: fixture.witness.command('k', 0.5), key: 'k' });
    a.freeze();
    await sleep(LEASE_MS * 1.5);
    a.thaw();
    await fixture.waitFor(held, ['interrupted']);
    // Claimed under the new name at once: the guard must not judge it by the limits of the old one.
    assert.equal((await a.api(fixture.token).waitFor(next)).state, 'succeeded');
    assert.deepEqual(check(await readHistory(fixture, { enqueued: [], cancelled: [], observed: [] })), []);
  });

  test('F03: a job that the guard ended while the lease was late is interrupted, never failed', async (t) => {
    const fixture = await openFixture(t, { postgres: true });
    const a = await start(fixture, 'a', 4_000);
    const held = await fixture.queue({ command: fixture.witness.command('k', 60), key: 'k' });
    await until('the tool has started', () => fixture.witness.starts(held) === 1);
    a.freeze();
    // TERM comes at 60 % of the lease; the lease itself is not over yet.
    await until('the guard has ended the tool', () => processesOf(new Set([held])).length === 0);
    a.thaw();
    const ended = await fixture.waitFor(held, ['interrupted', 'failed', 'cancelled']);
    assert.equal(ended.state, 'interrupted');
    const next = await fixture.queue({ command: fixture.witness.command('k', 0), key: 'k' });
    assert.equal((await a.api(fixture.token).waitFor(next)).state, 'succeeded');
  });

  test('F01: the jobs of a killed daemon are interrupted by the other one after the lease', async (t) => {
    const fixture = await openFixture(t, { postgres: true });
    const a = await start(fixture, 'a');
    const held = await fixture.queue({ command: fixture.witness.command('k', 60), key: 'k' });
    await until('the tool has started', () => fixture.witness.starts(held) === 1);
    const b = await start(fixture, 'b');
    const next = await fixture.queue({ command: fixture.witness.command('k', 0), key: 'k' });
    const killedAtMs = Date.now();
    await a.kill();
    const ended = await fixture.waitFor(held, ['interrupted']);
    const tookMs = (ended.finished_at ?? Number.NaN) - killedAtMs;
    assert.ok(tookMs <= limitMs(b), `the job was interrupted after ${tookMs} ms, not ${limitMs(b)} ms`);
    await fixture.waitFor(next, ['succeeded']);
    assert.deepEqual(check(await readHistory(fixture, { enqueued: [], cancelled: [], observed: [] })), []);
  });

  test(`F18: ${PARALLEL} equal requests with one Idempotency-Key to two daemons get the same bytes`, async (t) => {
    const fixture = await openFixture(t, { postgres: true });
    const daemons = await Promise.all(['a', 'b'].map((name) => start(fixture, name)));
    const [a, b] = daemons.map((daemon) => daemon.api(fixture.token)) as [Api, Api];
    for (let round = 0; round < ROUNDS; round += 1) {
      const answers = await Promise.all(
        Array.from({ length: PARALLEL }, (_, index) => enqueue(index % 2 === 0 ? a : b, `race-${round}`)),
      );
      assert.deepEqual([...new Set(answers.map((answer) => answer.status))], [202]);
      assert.equal(new Set(answers.map((answer) => answer.text)).size, 1);
    }
    const rows = await fixture.store.db.selectFrom('jobs').select('id').execute();
    assert.equal(rows.length, ROUNDS);
  });

  test('F18: a request that is sent again after its answer was lost with its daemon gets the same job', async (t) => {
    const fixture = await openFixture(t, { postgres: true });
    const [a, b] = await Promise.all(['a', 'b'].map((name) => start(fixture, name)));
    const lost = await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        const answer = enqueue(a!.api(fixture.token), `lost-${index}`).catch(() => null);
        if (index === 10) await a!.kill();
        return answer;
      }),
    );
    const again = await Promise.all(lost.map((_, index) => enqueue(b!.api(fixture.token), `lost-${index}`)));
    for (const [index, answer] of again.entries()) {
      assert.equal(answer.status, 202);
      if (lost[index]) assert.equal(answer.text, lost[index].text);
    }
    const rows = await fixture.store.db.selectFrom('jobs').select('id').execute();
    assert.equal(rows.length, 20);
  });
});

function enqueue(api: Api, key: string): Promise<ApiAnswer<{ job_id: string }>> {
  return api.post('/commands/run', { inventory: 'localhost', command: ['/bin/true'] }, { 'idempotency-key': key });
}

/** The length of a fault, not a wait for something. */
function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
