/**
 * The daemon dies as a power cut or an impatient kernel ends it: nothing is lost, nothing runs twice, nothing lives on.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { check } from '../../night/chaos/checker.ts';
import { readHistory } from '../../night/chaos/history.ts';
import { until } from '../../support/api-client.ts';
import { openFixture, processesOf, type Fixture } from '../../support/fixtures/installation.ts';

const JOBS = 8;
const INTERRUPTED_WITHIN_MS = 2_000;
/** Where a start takes seconds, this takes seconds too: longer than this number of starts is our fault. */
const INTERRUPTED_WITHIN_STARTS = 2;

function startsOf(fixture: Fixture, ids: readonly string[]): boolean {
  return ids.every((id) => fixture.witness.starts(id) === 1);
}

describe('after kill -9', () => {
  test('F01: 8 running jobs are interrupted within 2 s of ready, and what was acknowledged is all there', async (t) => {
    const fixture = await openFixture(t);
    const first = await fixture.start({ args: ['--max-jobs', String(JOBS)] });
    const keys = Array.from({ length: JOBS }, (_, index) => `k${index}`);
    const running = await Promise.all(
      keys.map((key) => fixture.queue({ command: fixture.witness.command(key, 60), key })),
    );
    await until('all tools have started', () => startsOf(fixture, running));
    const waiting = await Promise.all(
      keys.map((key) => fixture.queue({ command: fixture.witness.command(key, 0), key })),
    );
    const enqueued: { jobId: string; requestKey: string }[] = [];
    for (const requestKey of ['r1', 'r2', 'r3']) {
      enqueued.push({
        jobId: await first.api(fixture.token).run(['/bin/echo', `request=${requestKey}`], { key: requestKey }),
        requestKey,
      });
    }
    await first.kill();

    const second = await fixture.start({ args: ['--max-jobs', String(JOBS)] });
    const ended = await Promise.all(running.map((id) => fixture.waitFor(id, ['interrupted'])));
    const lateMs = Math.max(...ended.map((job) => (job.finished_at ?? Number.NaN) - second.readyAtMs));
    t.diagnostic(`interrupted ${lateMs} ms after ready, ready ${second.startMs.toFixed(0)} ms after the spawn`);
    const limitMs = Math.max(INTERRUPTED_WITHIN_MS, INTERRUPTED_WITHIN_STARTS * second.startMs);
    assert.ok(lateMs <= limitMs, `interrupted ${lateMs} ms after ready, where at most ${limitMs} ms are allowed`);
    const api = second.api(fixture.token);
    for (const id of [...waiting, ...enqueued.map((ack) => ack.jobId)])
      assert.equal((await api.waitFor(id)).state, 'succeeded');
    assert.deepEqual(processesOf(new Set(running)), []);
    await until('the directories of the runs are gone', () => fixture.leftRuns().length === 0);
    const listed = await api.get<{ id: string }[]>('/maintenance/interrupted');
    assert.deepEqual(listed.data.map((job) => job.id).toSorted(), running.toSorted());
    const history = await readHistory(fixture, { enqueued, cancelled: [], observed: [] });
    assert.deepEqual(check(history), []);
  });

  for (const withGuard of [true, false]) {
    const who = withGuard ? 'the guard' : 'the next daemon alone';
    test(`F02: a key is given away only when the survivors of its job have ended (${who} ends them)`, async (t) => {
      const fixture = await openFixture(t);
      const first = await fixture.start();
      const quick = await fixture.queue({ command: fixture.witness.command('quick', 4, 'quick-stray'), key: 'quick' });
      const never = await fixture.queue({ command: fixture.witness.command('never', 60, 'stray'), key: 'never' });
      await until('both tools have started', () => startsOf(fixture, [quick, never]));
      const [afterQuick, afterNever] = await Promise.all(
        ['quick', 'never'].map((key) => fixture.queue({ command: fixture.witness.command(key, 0), key })),
      );
      const guard = guardOf(first.pid);
      if (!withGuard) process.kill(guard, 'SIGKILL');
      await first.kill();

      await fixture.start();
      for (const id of [quick, never])
        assert.equal((await fixture.waitFor(id, ['interrupted'], 40_000)).exit_code, null);
      for (const id of [afterQuick!, afterNever!]) await fixture.waitFor(id, ['succeeded'], 40_000);
      const lines = fixture.witness.lines();
      const strayEnd = lines.findIndex((line) => line.what === 'stray-end' && line.jobId === quick);
      const next = lines.findIndex((line) => line.what === 'start' && line.jobId === afterQuick);
      assert.ok(
        strayEnd >= 0 && strayEnd < next,
        `the survivor ended at line ${strayEnd}, its key was used at line ${next}`,
      );
      assert.deepEqual(processesOf(new Set([quick, never])), []);
      assert.deepEqual(check(await readHistory(fixture, { enqueued: [], cancelled: [], observed: [] })), []);
    });
  }

  test('F09: torn and foreign files among the locks neither stop a start nor hide a dead daemon', async (t) => {
    const fixture = await openFixture(t);
    const first = await fixture.start();
    const id = await fixture.queue({ command: fixture.witness.command('k', 60), key: 'k' });
    await until('the tool has started', () => startsOf(fixture, [id]));
    await first.kill();
    const instances = join(fixture.dir, 'data', 'instances');
    for (const name of readdirSync(instances)) writeFileSync(join(instances, name), 'x'.repeat(100));
    writeFileSync(join(instances, 'notes.txt'), '');
    writeFileSync(join(instances, 'dmn_01m7yd4zyke00anp2z332d2j5p.lock'), '');

    await fixture.start();
    await fixture.waitFor(id, ['interrupted']);
  });

  test('F09: a process that has got the pid of a dead job is left alone', async (t) => {
    const fixture = await openFixture(t);
    const first = await fixture.start();
    const id = await fixture.queue({ command: fixture.witness.command('k', 60), key: 'k' });
    await until('the tool has started', () => startsOf(fixture, [id]));
    await first.kill();
    await until('the guard has ended the tool', () => processesOf(new Set([id])).length === 0);
    // As after many forks: the number now belongs to somebody else, here to this very test.
    await fixture.store.write((tx) =>
      tx.db.updateTable('jobs').set({ leader_pid: process.pid }).where('id', '=', id).execute(),
    );

    await fixture.start();
    await fixture.waitFor(id, ['interrupted']);
  });
});

/** The guard is a child of its daemon, and its command line names its program. */
function guardOf(daemonPid: number): number {
  const found = readdirSync('/proc').filter((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      const parent = readFileSync(`/proc/${name}/stat`, 'latin1').split(') ')[1]?.split(' ')[1];
      return parent === String(daemonPid) && readFileSync(`/proc/${name}/cmdline`, 'latin1').includes('guard-child');
    } catch {
      return false;
    }
  });
  assert.equal(found.length, 1, 'a daemon with running jobs has one guard');
  return Number(found[0]);
}
