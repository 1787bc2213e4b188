/** Targets of `--notify` whose lists change, or differ between daemons of one store, on each database. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { deliveryTargetOf } from '../../../src/domain/notify/target.ts';
import { newId } from '../../../src/lib/id.ts';
import type { Transport } from '../../../src/push/transport.ts';
import { insertLinks } from '../../../src/store/approvals/decision-links.ts';
import { hasLeft, TARGET_AWAY_MS, takeOver } from '../../../src/store/notify/deliveries.ts';
import {
  adoptNumbered,
  isTargetLive,
  listLiveTargets,
  retarget,
  targetsJson,
} from '../../../src/store/notify/targets.ts';
import { assignTargets, requestNotification } from '../../../src/store/notify/notifications.ts';
import type { Store } from '../../../src/store/store.ts';
import { until } from '../../support/api-client.ts';
import { openNotifyFixture } from '../../support/notify/fixture.ts';
import { addDaemon, ENGINES, leaseClock } from '../engine-fixture.ts';

const OPS = { name: 'ops', key: 'a'.repeat(64) };
const DEV = { name: 'dev', key: 'b'.repeat(64) };

/** A target that notes what it is sent. */
function recording(target: { readonly name: string; readonly key: string }, sent: string[]): Transport {
  const { name, key } = target;
  return {
    name,
    key,
    id: deliveryTargetOf(target),
    label: 'ntfy at ntfy.test',
    send: async (message) => void sent.push(`${key[0]} ${message.id}`),
  };
}

const stop = (store: Store, daemonId: string) =>
  store.write((tx) =>
    tx.db.updateTable('daemons').set({ stopped_at: Date.now() }).where('id', '=', daemonId).execute(),
  );
const deliveries = (store: Store) => store.db.selectFrom('deliveries').selectAll().orderBy('target').execute();

async function assigned(store: Store, target: string, daemonId: string): Promise<string> {
  const id = newId('page', Date.now());
  await store.write(async (tx) => {
    await requestNotification(tx, { id, topic: id, facts: { kind: 'test', by: 'ana' } });
    await assignTargets(tx, id, [{ target, daemonId }]);
  });
  return id;
}

for (const engine of ENGINES) {
  describe(`Targets of --notify on ${engine.name}`, () => {
    test('of two daemons with different lists all get every notification, once', async (t) => {
      const sent: string[] = [];
      const { store, page, start, stateOfNotification } = await openNotifyFixture(t, engine);
      await Promise.all([
        start([recording(OPS, sent)]),
        start([recording(DEV, sent), recording({ ...OPS, key: 'c'.repeat(64) }, sent)]),
      ]);
      const ids = await Promise.all(Array.from({ length: 10 }, () => page()));
      await until('all are notified', () => (sent.length >= 30 ? true : undefined));
      for (const id of ids)
        await until('it is done', async () => ((await stateOfNotification(id)) === 'done' ? true : undefined));
      assert.deepEqual(
        sent.toSorted(),
        ids.flatMap((id) => [`a ${id}`, `b ${id}`, `c ${id}`]).toSorted(),
        'two targets of one name are two',
      );
      assert.equal((await listLiveTargets(store)).length, 2);
    });

    test('a delivery to a target of one daemon waits for a daemon with that target, for an hour', async (t) => {
      const database = await engine.create();
      t.after(() => database.remove());
      const store = await database.open();
      for (const id of ['dmn_a', 'dmn_b']) await addDaemon(store, id);
      const target = deliveryTargetOf(OPS);
      await assigned(store, target, 'dmn_a');
      await stop(store, 'dmn_a');
      const now = Date.now();
      assert.equal(await hasLeft(store.db, [deliveryTargetOf(DEV)], now), false);
      assert.equal(await store.write((tx) => takeOver(tx, 'dmn_b', [])), 0);
      assert.equal((await deliveries(store))[0]?.daemon_id, 'dmn_a');
      assert.equal(await hasLeft(store.db, [], now + 2 * TARGET_AWAY_MS), true, 'after an hour anybody gives it up');
      assert.equal(await store.write((tx) => takeOver(tx, 'dmn_b', [target])), 1);
      assert.equal((await deliveries(store))[0]?.daemon_id, 'dmn_b');
      await assigned(store, 'ep_1', 'dmn_a');
      assert.equal(await store.write((tx) => takeOver(tx, 'dmn_b', [])), 1, 'what is for an endpoint anybody takes');
    });

    test('T80: no link acts for a target that somebody wrote into the row of a daemon', async (t) => {
      const database = await engine.create();
      t.after(() => database.remove());
      const store = await database.open();
      await addDaemon(store, 'dmn_a');
      await store.write((tx) => retarget(tx, 'dmn_a', [OPS]));
      assert.equal(await isTargetLive(store, OPS.key), true);
      const forged = { notify_targets: targetsJson([OPS, DEV]) };
      await store.write((tx) => tx.db.updateTable('daemons').set(forged).execute());
      assert.equal(await isTargetLive(store, DEV.key), false);
      await store.write((tx) => retarget(tx, 'dmn_a', [DEV]));
      assert.equal(await isTargetLive(store, DEV.key), false, 'a change of the service does not vouch for the row');
    });

    test('a daemon whose lease ran out, one that stopped and one of an earlier build have no targets', async (t) => {
      const database = await engine.create();
      t.after(() => database.remove());
      const store = await database.open();
      const lease = engine.hasLeases ? await leaseClock(store) : null;
      for (const [id, until_] of [
        ['dmn_a', lease === null ? null : lease + 60_000],
        ['dmn_b', lease === null ? null : lease - 1],
        ['dmn_c', null],
      ] as const)
        await addDaemon(store, id, until_);
      for (const id of ['dmn_a', 'dmn_b']) await store.write((tx) => retarget(tx, id, [OPS]));
      if (lease === null) await stop(store, 'dmn_b');
      assert.deepEqual(
        (await listLiveTargets(store)).map(({ daemonId, targets }) => [daemonId, targets]),
        [['dmn_a', [OPS]]],
      );
    });

    test('numbered targets of an earlier build become named ones in order; decisions keep their words', async (t) => {
      const database = await engine.create();
      t.after(() => database.remove());
      const store = await database.open();
      for (const id of ['dmn_old', 'dmn_other', 'dmn_new']) await addDaemon(store, id);
      const links = (recipient: string) =>
        store.write((tx) =>
          insertLinks(tx, { approvalId: newId('apr', Date.now()), recipient, target: null, madeBy: null }),
        );
      for (const recipient of ['transport:1', 'transport:2', 'transport:3', 'ana']) await links(recipient);
      for (const target of ['transport:1', 'transport:2', 'transport:3']) await assigned(store, target, 'dmn_old');
      await assigned(store, 'transport:1', 'dmn_other');
      await stop(store, 'dmn_old');
      for (let n = 0; n < 2; n += 1) await store.write((tx) => adoptNumbered(tx, 'dmn_new', [OPS, DEV]));
      const holders = await store.db
        .selectFrom('decision_links')
        .select(['recipient', 'target'])
        .where('decision', '=', 'approve')
        .orderBy('recipient')
        .execute();
      assert.deepEqual(
        holders.map(({ recipient, target }) => [recipient, target]),
        [
          ['ana', null],
          ['notify:dev', DEV.key],
          ['notify:ops', OPS.key],
          ['transport:3', null],
        ],
      );
      assert.deepEqual(
        (await deliveries(store)).map(({ target, daemon_id: by }) => [target, by]),
        [
          [deliveryTargetOf(DEV), 'dmn_new'],
          [deliveryTargetOf(OPS), 'dmn_new'],
          ['transport:1', 'dmn_other'],
          ['transport:3', 'dmn_old'],
        ],
      );
    });
  });
}
