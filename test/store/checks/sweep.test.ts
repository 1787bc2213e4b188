import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { Failure } from '../../../src/domain/failure.ts';
import type { CheckTargetRow, EventRow } from '../../../src/store/schema/schema.ts';
import type { Store } from '../../../src/store/store.ts';
import { putCheck, sweepFixture } from '../../support/checks/sweep-fixture.ts';
import { HandClock } from '../../support/clock.ts';
import { addRule, jobCount } from '../../support/fixtures/reaction.ts';
import { ENGINES, freshStore } from '../engine-fixture.ts';

const INTERVAL = 10_000;

function events({ db }: Store): Promise<EventRow[]> {
  return db.selectFrom('events').selectAll().orderBy('id').execute();
}

async function said(store: Store): Promise<string> {
  const rows = await events(store);
  return rows
    .map(({ name, labels, status }) => `${name}/${(JSON.parse(labels) as { target: string }).target} ${status}`)
    .join(', ');
}

async function targetIn({ db }: Store, name: string): Promise<CheckTargetRow | undefined> {
  return db.selectFrom('check_targets').selectAll().where('name', '=', name).executeTakeFirst();
}

describe('The sweep', () => {
  const fixture = freshStore(ENGINES[0]!);

  test('seeds a target without an event, and makes one of three observations that disagree', async () => {
    const { store } = fixture;
    await putCheck(store, 'web', ['a']);
    const { sweep, down, pass, clock } = sweepFixture(store);
    await pass(1_000);
    await pass(INTERVAL);
    const seeded = await targetIn(store, 'a');
    assert.deepEqual([seeded?.status, seeded?.pending, await said(store)], ['up', null, '']);
    down.add('web/a');
    const before = clock.now();
    await pass(2 * INTERVAL);
    assert.deepEqual([(await targetIn(store, 'a'))?.status, await said(store)], ['up', '']);
    assert.match((await targetIn(store, 'a'))?.pending ?? '', /^{"disagreeing":\[\d+,\d+\],"withheld":null}$/);
    await pass(INTERVAL);
    const [event] = await events(store);
    assert.ok(clock.now() - before <= 3 * INTERVAL);
    assert.deepEqual(
      [event?.source, event?.name, event?.status, event?.severity, event?.netgroup, event?.fingerprint],
      ['check', 'web', 'firing', 'critical', 'dc', 'check:web/a'],
    );
    assert.deepEqual(JSON.parse(event?.labels ?? ''), { check: 'web', target: 'a', duration_ms: '3', netgroup: 'dc' });
    assert.deepEqual(JSON.parse(event?.annotations ?? ''), { detail: 'refused' });
    const ledger = JSON.parse(event?.check_observations ?? '') as { observed_at: string; [key: string]: string }[];
    assert.deepEqual(
      ledger.map(({ status, consecutive }) => `${status} ${consecutive}`),
      ['down 1 of 3', 'down 2 of 3', 'down 3 of 3'],
    );
    const times = ledger.map(({ observed_at: at }) => Date.parse(at));
    assert.ok(Math.abs(times[2]! - times[0]! - 2 * INTERVAL) <= 100);
    const changed = await targetIn(store, 'a');
    assert.deepEqual([changed?.status, changed?.last_change, changed?.detail], ['down', times[2], 'refused']);
    down.clear();
    await pass(3 * INTERVAL);
    assert.equal(await said(store), 'web/a firing, web/a resolved');
    await sweep.stop();
  });

  test('rules react to its events, once for each', async () => {
    const { store } = fixture;
    await putCheck(store, 'web', ['a', 'b']);
    const { sweep, down, pass, reaction } = sweepFixture(store);
    await addRule(reaction, 'restart', {
      when: 'event.source == "check" && event.status == "firing" && event.labels.target == "a" && event.netgroup != ""',
    });
    await pass(1_000 + INTERVAL);
    down.add('web/a').add('web/b');
    await pass(6 * INTERVAL);
    assert.equal(await jobCount(store), 1);
    assert.deepEqual((await events(store)).map(({ outcome, rule }) => `${outcome} ${rule}`).toSorted(), [
      'fired restart',
      'ignored null',
    ]);
    await sweep.stop();
  });

  test('keeps what it counted over a restart in order, and has no event twice', async () => {
    const { store } = fixture;
    await putCheck(store, 'web', ['a']);
    const first = sweepFixture(store);
    await first.pass(1_000 + INTERVAL);
    first.down.add('web/a');
    await first.pass(2 * INTERVAL);
    await first.sweep.stop();
    const next = sweepFixture(store, {}, new HandClock(first.clock.wallMs));
    next.down.add('web/a');
    await next.pass(1_000 + INTERVAL);
    assert.equal(await said(store), 'web/a firing');
    await next.sweep.stop();
    const last = sweepFixture(store, {}, new HandClock(next.clock.wallMs));
    last.down.add('web/a');
    await last.pass(1_000 + 4 * INTERVAL);
    assert.equal(await said(store), 'web/a firing');
    await last.sweep.stop();
  });

  test('follows checks that are disabled, enabled, changed and removed', async () => {
    const { store } = fixture;
    await putCheck(store, 'web', ['a', 'b']);
    const { sweep, probed, pass, down } = sweepFixture(store);
    const count = async (ms: number): Promise<string> => {
      probed.length = 0;
      await pass(ms);
      return [...Map.groupBy(probed.toSorted(), (name) => name)]
        .map(([name, all]) => `${name} ${all.length}`)
        .join(', ');
    };
    await pass(1_000);
    assert.equal(await count(2 * INTERVAL), 'web/a 2, web/b 2');
    await putCheck(store, 'web', ['a', 'b'], { enabled: 0 });
    await pass(1_000);
    assert.equal(await count(2 * INTERVAL), '');
    assert.equal((await targetIn(store, 'a'))?.status, 'up');
    await putCheck(store, 'web', ['a', 'c'], { interval_ms: 5_000 });
    await pass(6_000);
    assert.equal(await count(2 * INTERVAL), 'web/a 4, web/c 4');
    assert.deepEqual([(await targetIn(store, 'b'))?.status, (await targetIn(store, 'c'))?.status], [undefined, 'up']);
    // A kept target keeps its state: down is a transition. One that is new begins with what it is.
    down.add('web/a').add('web/d');
    await putCheck(store, 'web', ['a', 'd']);
    await pass(4 * INTERVAL);
    assert.deepEqual([await said(store), (await targetIn(store, 'd'))?.status], ['web/a firing', 'down']);
    await store.write(async ({ db }) => {
      await db.deleteFrom('check_targets').execute();
      await db.deleteFrom('checks').execute();
    });
    await pass(1_000);
    assert.deepEqual([await count(2 * INTERVAL), sweep.samples().length], ['', 0]);
    await sweep.stop();
  });

  test('a check that was removed and added again begins again', async () => {
    const { store } = fixture;
    await putCheck(store, 'web', ['a']);
    const { sweep, pass, down } = sweepFixture(store);
    await pass(1_000 + INTERVAL);
    await store.write(async ({ db }) => {
      await db.deleteFrom('check_targets').execute();
      await db.deleteFrom('checks').execute();
    });
    down.add('web/a');
    await putCheck(store, 'web', ['a'], { created_at: 5 });
    await pass(5 * INTERVAL);
    assert.deepEqual([(await targetIn(store, 'a'))?.status, await said(store)], ['down', '']);
    await sweep.stop();
  });

  test('probes a new target soon, also one with a long interval', async () => {
    const { store } = fixture;
    await putCheck(store, 'old', ['x']);
    const { sweep, pass } = sweepFixture(store);
    await pass(2_000);
    await putCheck(store, 'web', ['a', 'b', 'c'], { interval_ms: 3_600_000 });
    await pass(7_000);
    const rows = await store.db.selectFrom('check_targets').select('status').where('check_name', '=', 'web').execute();
    assert.deepEqual(
      rows.map(({ status }) => status),
      ['up', 'up', 'up'],
    );
    await sweep.stop();
  });

  test('a snoozed target has no event until its snooze ends', async () => {
    const { store } = fixture;
    await putCheck(store, 'web', ['a']);
    const { sweep, pass, down, clock } = sweepFixture(store);
    await pass(1_000 + INTERVAL);
    const snoozedUntil = clock.now() + 5 * INTERVAL;
    await store.write(({ db }) => db.updateTable('check_targets').set({ snoozed_until: snoozedUntil }).execute());
    await putCheck(store, 'web', ['a']);
    down.add('web/a');
    await pass(5 * INTERVAL);
    const row = await targetIn(store, 'a');
    assert.deepEqual([row?.status, await said(store)], ['down', '']);
    assert.match(row?.pending ?? '', /"withheld":\[/);
    await pass(INTERVAL);
    assert.equal(await said(store), 'web/a firing');
    assert.equal((await targetIn(store, 'a'))?.pending, null);
    await sweep.stop();
  });

  test('F11: while the canary is unreachable too, no state advances and nothing is emitted', async () => {
    const { store } = fixture;
    await putCheck(store, 'web', ['a', 'b']);
    let [isUp, asked] = [true, 0];
    const canary = { isReachable: async () => ((asked += 1), isUp) };
    const { sweep, pass, down } = sweepFixture(store, { canary });
    await pass(1_000 + INTERVAL);
    assert.equal(asked, 0);
    isUp = false;
    down.add('web/a').add('web/b');
    await pass(5 * INTERVAL + 61_000);
    const row = await targetIn(store, 'a');
    assert.deepEqual([row?.status, row?.pending, row?.detail, await said(store)], ['up', null, 'canary_down', '']);
    isUp = true;
    await pass(3 * INTERVAL);
    assert.equal((await events(store)).length, 2);
    await sweep.stop();
  });

  test('a transition that the store refuses is written once it can be', async () => {
    const { store } = fixture;
    await putCheck(store, 'web', ['a']);
    let isRefusing = false;
    const refusing: Store = {
      ...store,
      write: (work, options) =>
        isRefusing ? Promise.reject(new Failure('unavailable', 'The disk is full.')) : store.write(work, options),
    };
    const { sweep, pass, down, clock, errors, reaction } = sweepFixture(store);
    await pass(1_000 + INTERVAL);
    Object.assign(reaction, { store: refusing });
    down.add('web/a');
    isRefusing = true;
    const waiting = pass(3 * INTERVAL + 1_000);
    for (let turn = 0; turn < 2_000 && errors.length === 0; turn += 1) await new Promise((r) => setImmediate(r));
    assert.deepEqual([errors.length, await said(store)], [1, '']);
    isRefusing = false;
    clock.advance(1_000);
    await waiting;
    assert.equal(await said(store), 'web/a firing');
    await sweep.stop();
  });
});

for (const engine of ENGINES) {
  describe(`F22: many targets that fail at once, on ${engine.name}`, () => {
    const fixture = freshStore(engine);
    let targets: string[];
    beforeEach(async () => {
      // PostgreSQL takes some round trips for each.
      targets = Array.from({ length: engine.hasLeases ? 150 : 600 }, (_, index) => `t${index}`);
      await putCheck(fixture.store, 'web', targets);
    });

    test('have one event each, and a rule with a cooldown one job', async () => {
      const { store } = fixture;
      const { sweep, pass, down, reaction, errors } = sweepFixture(store);
      await addRule(reaction, 'restart', { when: 'event.source == "check"', cooldownMs: 3_600_000 });
      await pass(1_000 + INTERVAL);
      for (const target of targets) down.add(`web/${target}`);
      await pass(3 * INTERVAL);
      const rows = await events(store);
      assert.deepEqual(
        [rows.length, new Set(rows.map(({ fingerprint }) => fingerprint)).size],
        [targets.length, targets.length],
      );
      assert.deepEqual([sweep.samples().length, errors], [targets.length, []]);
      await sweep.stop();
    });
  });
}
