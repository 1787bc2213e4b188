/** How daemons on one PostgreSQL divide the targets. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { sharedOwnership, SHARE_LEASE_MS } from '../../../src/daemon/checks/shared-ownership.ts';
import type { Ownership } from '../../../src/daemon/checks/ownership.ts';
import { placeOf, SHARDS, slotsOf } from '../../../src/domain/checks/sweep/slots.ts';
import { toJson } from '../../../src/lib/json.ts';
import { renewShards, sweepReports, reportSweep } from '../../../src/store/checks/shards.ts';
import type { Store } from '../../../src/store/store.ts';
import { putCheck, sweepFixture } from '../../support/checks/sweep-fixture.ts';
import { HandClock } from '../../support/clock.ts';
import { ENGINES, freshStore } from '../engine-fixture.ts';

const POSTGRES = ENGINES.find(({ hasLeases }) => hasLeases)!;

async function renewAll(clock: HandClock, daemons: readonly Ownership[], seconds = 1): Promise<void> {
  for (let second = 0; second < seconds; second += 1) {
    clock.advance(1_000);
    for (const each of daemons) await each.renew();
  }
}

function assertApart(daemons: readonly Ownership[]): number {
  const all = daemons.flatMap((each) => [...each.shards()]);
  assert.equal(new Set(all).size, all.length, 'a shard has two daemons');
  return all.length;
}

describe('Daemons on one PostgreSQL', () => {
  const its = freshStore(POSTGRES);

  /** A daemon with a database clock of the test. */
  function daemon(name: string, clock: HandClock): Ownership {
    const store: Store = {
      ...its.store,
      dialect: { ...its.store.dialect, leaseClock: async () => clock.now() },
      write: (work, options) =>
        its.store.write(
          (tx) => work({ ...tx, dialect: { ...tx.dialect, leaseClock: async () => clock.now() } }),
          options,
        ),
    };
    return sharedOwnership({ store, clock, self: () => name });
  }

  test('divide all shards evenly, and never have one together while they come and leave', async () => {
    const clock = new HandClock();
    const daemons: Ownership[] = [];
    for (const name of ['a', 'b', 'c']) {
      daemons.push(daemon(name, clock));
      for (let second = 0; second < 8; second += 1) {
        await renewAll(clock, daemons);
        assertApart(daemons);
      }
      assert.equal(assertApart(daemons), SHARDS);
      const sizes = daemons.map((each) => each.shards().size);
      assert.ok(Math.max(...sizes) - Math.min(...sizes) <= 1, sizes.join(' '));
    }
    await daemons[0]?.release();
    await renewAll(clock, daemons.slice(1), 4);
    assert.equal(assertApart(daemons.slice(1)), SHARDS);
  });

  test('take the share of one that died within 20 s, and not before it stopped', async () => {
    const clock = new HandClock();
    const [one, two] = [daemon('a', clock), daemon('b', clock)];
    await renewAll(clock, [one, two], 8);
    const before = two.shards().size;
    let seconds = 0;
    for (; two.shards().size === before; seconds += 1) {
      await renewAll(clock, [two]);
      assertApart([one, two]);
      assert.ok(seconds < 20);
    }
    assert.ok(seconds * 1_000 >= SHARE_LEASE_MS * 0.8, `${seconds} s`);
    assert.deepEqual([one.shards().size, two.shards().size], [0, SHARDS]);
    clock.advance(0.3);
    assert.ok(Number.isInteger(two.now()));
  });

  test('probe no target twice in one interval, and each in its interval, while the shards move', async () => {
    const clock = new HandClock();
    await putCheck(
      its.store,
      'web',
      Array.from({ length: 300 }, (_, index) => `t${index}`),
    );
    const probes: { readonly target: string; readonly slot: number }[] = [];
    const add = (name: string) =>
      sweepFixture(
        its.store,
        {
          ownership: daemon(name, clock),
          probe: async ({ row: { name: target } }) => {
            const { phaseMs, intervalMs } = slotsOf(10_000, placeOf('web', target));
            probes.push({ target, slot: Math.floor((clock.now() - phaseMs) / intervalMs) });
            return { up: true, detail: 'ok', durationMs: 1, certificateDays: null };
          },
        },
        clock,
      );
    const sweeps = [add('a')];
    const { signal } = new AbortController();
    const run = async (seconds: number): Promise<void> => {
      for (let step = 0; step < seconds * 10; step += 1) {
        clock.advance(100);
        await new Promise((resolve) => setImmediate(resolve));
        if (step % 10 === 0) for (const { sweep } of sweeps) await sweep.pass(signal);
      }
    };
    await run(15);
    sweeps.push(add('b'));
    await run(25);
    await sweeps.shift()?.sweep.stop();
    await run(25);
    const windows = probes.map(({ target, slot }) => `${target} ${slot}`);
    assert.equal(new Set(windows).size, windows.length);
    const perTarget = Map.groupBy(probes, ({ target }) => target);
    assert.equal(perTarget.size, 300);
    // 65 s: at each of the two moves the shards wait up to three seconds for their new daemon.
    for (const [target, all] of perTarget) assert.ok(all.length >= 5, `${target}: ${all.length} probes`);
    for (const { sweep } of sweeps) await sweep.stop();
  });

  test('two that renew at the same moment by the clock of the database have different shards', async () => {
    const second = await its.database.open();
    const held = await Promise.all(
      [its.store, second].map((store, index) =>
        store.write((tx) => renewShards(tx, `dmn_${index}`, SHARE_LEASE_MS, [])),
      ),
    );
    const all = held.flatMap((each) => each.held);
    assert.equal(new Set(all).size, all.length);
    assert.equal(all.length, SHARDS);
    await second.close();
  });
});

const report = (probes: number) =>
  toJson({ targets: 0, probes, late: 0, longestLateMs: 0, slow: 0, missed: 0, faults: 0, faulty: [] });

for (const engine of ENGINES) {
  describe(`Reports of sweeps on ${engine.name}`, () => {
    const its = freshStore(engine);

    test('are one for each daemon, and those of daemons that are long gone are removed', async () => {
      const { store } = its;
      await store.write((tx) => reportSweep(tx, 'old', report(0), 0));
      const before = Date.now() - 60_000;
      for (const probes of [1, 2]) await store.write((tx) => reportSweep(tx, 'new', report(probes), before));
      const reports = await sweepReports(store.db, before);
      assert.deepEqual(reports.map(({ daemon_id: id, report: text }) => `${id} ${text}`).toSorted(), [
        `new ${report(2)}`,
        `old ${report(0)}`,
      ]);
      await store.write((tx) => reportSweep(tx, 'new', report(0), Date.now() + 60_000));
      assert.deepEqual(
        (await sweepReports(store.db, before)).map(({ daemon_id: id }) => id),
        ['new'],
      );
    });
  });
}
