/** Cancel, time-out and an orderly stop end the whole tree of a job, and tell truly how it ended. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { check } from '../../night/chaos/checker.ts';
import { readHistory } from '../../night/chaos/history.ts';
import { type Api, until } from '../../support/api-client.ts';
import { openFixture, processesOf } from '../../support/fixtures/installation.ts';

/** The grace is 10 s, and what is killed is gone within moments. */
const TREE_LIMIT_MS = 15_000;
/** Long enough that the tree is up before, also on a machine that is busy with other tests. */
const TIMEOUT_MS = 5_000;
const SIGTERM_EXIT = 143;
const SIGKILL_EXIT = 137;

/** Five processes that resist their end: they ignore signals, start a new session, are orphaned, or are stopped. */
const STUBBORN = [
  '/bin/sh',
  '-c',
  `trap "" TERM HUP INT
   sleep 300 &
   setsid sh -c 'trap "" TERM; while :; do sleep 1; done' &
   (sleep 300 &)
   sleep 300 & kill -STOP $!
   echo up
   while :; do sleep 1; done`,
];

async function isUp(api: Api, id: string): Promise<boolean> {
  return (await api.events(id)).some((event) => event.text === 'up');
}

describe('stopping', () => {
  test('F12: cancel and time-out end deaf, detached, orphaned and stopped processes', async (t) => {
    const fixture = await openFixture(t);
    const daemon = await fixture.start();
    const api = daemon.api(fixture.token);
    const stubborn = await api.run(STUBBORN);
    const late = await api.run(STUBBORN, { timeout: `${TIMEOUT_MS}ms` });
    const obedient = await api.run(['/bin/sh', '-c', 'echo up; exec sleep 300']);
    const orderly = await api.run(['/bin/sh', '-c', 'trap "exit 7" TERM; echo up; while :; do sleep 0.1; done']);
    const all = [stubborn, late, obedient, orderly];
    for (const id of all) await until(`${id} is up`, () => isUp(api, id));
    const askedAt = Date.now();
    for (const id of [stubborn, obedient, orderly]) assert.equal((await api.post(`/jobs/${id}/cancel`)).status, 200);

    const ends = await Promise.all(all.map((id) => api.waitFor(id)));
    for (const { id, started_at: startedAt, finished_at: finishedAt } of ends) {
      const from = id === late ? Date.parse(startedAt ?? '') + TIMEOUT_MS : askedAt;
      const tookMs = Date.parse(finishedAt ?? '') - from;
      assert.ok(tookMs <= TREE_LIMIT_MS, `${id} ended after ${tookMs} ms`);
    }
    assert.deepEqual(processesOf(new Set(all)), []);
    assert.deepEqual(
      ends.map(({ state, exit_code }) => ({ state, exit_code })),
      [
        { state: 'cancelled', exit_code: SIGKILL_EXIT },
        { state: 'failed', exit_code: SIGKILL_EXIT },
        { state: 'cancelled', exit_code: SIGTERM_EXIT },
        { state: 'cancelled', exit_code: 7 },
      ],
    );
    assert.match((await api.events(late)).map((event) => event.text).join('\n'), /time-out/);
    assert.deepEqual(
      check(await readHistory(fixture, { enqueued: [], cancelled: [stubborn, obedient, orderly], observed: [] })),
      [],
    );
  });

  test('F12: what a job leaves in the background does not outlive it', async (t) => {
    const fixture = await openFixture(t);
    const daemon = await fixture.start();
    const api = daemon.api(fixture.token);
    const id = await api.run(['/bin/sh', '-c', 'sleep 300 & setsid sleep 300 & echo up']);
    const end = await api.waitFor(id);
    assert.deepEqual({ state: end.state, exit_code: end.exit_code }, { state: 'succeeded', exit_code: 0 });
    assert.deepEqual(processesOf(new Set([id])), []);
  });

  test('a queued job that is cancelled never starts, holds up no other job', async (t) => {
    const fixture = await openFixture(t);
    const daemon = await fixture.start({ args: ['--max-jobs', '1'] });
    const api = daemon.api(fixture.token);
    const first = await fixture.queue({ command: fixture.witness.command('a', 1), key: 'a' });
    await until('the first has started', () => fixture.witness.starts(first) === 1);
    const dropped = await fixture.queue({ command: fixture.witness.command('a', 0), key: 'a' });
    const next = await fixture.queue({ command: fixture.witness.command('a', 0), key: 'a' });
    assert.equal((await api.post<{ state: string }>(`/jobs/${dropped}/cancel`)).data.state, 'cancelled');
    const again = await api.post(`/jobs/${dropped}/cancel`);
    assert.deepEqual([again.status, again.error?.code], [409, 'conflict']);
    assert.equal((await api.waitFor(next)).state, 'succeeded');
    const { state, exit_code: exitCode, started_at: startedAt } = await api.job(dropped);
    assert.deepEqual({ state, exitCode, startedAt }, { state: 'cancelled', exitCode: null, startedAt: null });
    assert.equal(fixture.witness.starts(dropped), 0);
  });

  test('SIGTERM ends running jobs as interrupted, leaves waiting ones queued and nothing behind', async (t) => {
    const fixture = await openFixture(t);
    const daemon = await fixture.start({ args: ['--max-jobs', '2'] });
    const api = daemon.api(fixture.token);
    const running = [await api.run(['/bin/sh', '-c', 'echo up; exec sleep 300']), await api.run(STUBBORN)];
    for (const id of running) await until(`${id} is up`, () => isUp(api, id));
    const waiting = await api.run(['/bin/true']);
    const stream = await fetch(`${api.baseUrl}/jobs/${running[0]}/stream`, {
      headers: { authorization: `Bearer ${fixture.token}` },
    });
    const answer = stream.text();

    assert.equal(await daemon.stop(), 0);
    for (const id of running) assert.equal((await fixture.row(id)).state, 'interrupted');
    assert.equal((await fixture.row(waiting)).state, 'queued');
    assert.deepEqual(processesOf(new Set(running)), []);
    assert.match(await answer, /event: end\ndata: \{"state":"interrupted"/);
    const daemons = await fixture.store.db.selectFrom('daemons').select('stopped_at').execute();
    assert.ok(daemons.every((row) => row.stopped_at !== null));

    const second = await fixture.start();
    assert.equal((await second.api(fixture.token).waitFor(waiting)).state, 'succeeded');
    assert.equal(await second.stop(), 0);
    assert.deepEqual(check(await readHistory(fixture, { enqueued: [], cancelled: [], observed: [] })), []);
  });

  test('a daemon that is stopped while it starts never claims a job, or ends those that it claimed', async (t) => {
    const fixture = await openFixture(t);
    const id = await fixture.queue({ command: fixture.witness.command('k', 60), key: 'k' });
    const starting = fixture.spawn();
    await until('the job is claimed', async () => (await fixture.row(id)).state === 'running');
    // The ready line is being written at about this moment.
    starting.signal('SIGTERM');
    assert.equal(await starting.exited, 0);
    assert.equal((await fixture.row(id)).state, 'interrupted');
    assert.deepEqual(processesOf(new Set([id])), []);
  });
});
