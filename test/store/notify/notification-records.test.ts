/** What comes of a send, as it is recorded, on each database. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Failure } from '../../../src/domain/failure.ts';
import type { NotificationMessage } from '../../../src/domain/notify/row.ts';
import { type Clock, systemClock } from '../../../src/lib/clock.ts';
import { newId } from '../../../src/lib/id.ts';
import { DialFailed } from '../../../src/dial/dial-failed.ts';
import { countDeliveries, settleDelivery } from '../../../src/store/notify/deliveries.ts';
import { deleteEndpoint, insertEndpoint, pruneEndpoint, recordAttempt } from '../../../src/store/notify/endpoints.ts';
import { assignTargets, requestNotification } from '../../../src/store/notify/notifications.ts';
import type { Store } from '../../../src/store/store.ts';
import { until } from '../../support/api-client.ts';
import { gate } from '../../support/fixtures/approvals.ts';
import { openNotifyFixture } from '../../support/notify/fixture.ts';
import { ENGINES, makeToken } from '../engine-fixture.ts';
import { listLiveEndpoints } from '../../../src/store/notify/live-endpoints.ts';

/** A clock whose timers fire twenty times as fast, so that pauses of seconds are short. */
const quick: Clock = { ...systemClock, after: (ms, fire) => systemClock.after(ms / 20, fire) };
const UNAVAILABLE = new Failure('unavailable', 'The disk of the store is full: nothing was written.');
const DAY_MS = 86_400_000;

/** A store that refuses writes for as long as it is asked to. */
const refusing =
  (isRefusing: () => boolean) =>
  (store: Store): Store => ({
    ...store,
    db: store.db,
    write: (work, options) => (isRefusing() ? Promise.reject(UNAVAILABLE) : store.write(work, options)),
  });

for (const engine of ENGINES) {
  describe(`The result of a notification on ${engine.name}`, () => {
    test('a send whose record cannot be written is recorded later and never sent again', async (t) => {
      const sent: string[] = [];
      let refuses = false;
      const send = async (_target: unknown, { id }: NotificationMessage): Promise<void> => {
        sent.push(id);
        refuses = true;
      };
      const { endpoint, page, delivery, errors, start } = await openNotifyFixture(t, engine, {
        send,
        clock: quick,
        storeOf: refusing(() => refuses),
        mayFail: true,
      });
      const phone = await endpoint('https://phone.test/');
      await start();
      const id = await page();
      await until('the record was refused five times', () => errors.length >= 5);
      assert.equal((await delivery(id, phone))?.state, 'waiting');
      refuses = false;
      const recorded = await until('it is recorded', async () => {
        const row = await delivery(id, phone);
        return row?.state === 'sent' ? row : undefined;
      });
      assert.deepEqual([sent, recorded.attempts], [[id], 1]);
      assert.ok(errors.every((error) => error === UNAVAILABLE));
    });

    test('a daemon that stops does not wait for a record that cannot be written', async (t) => {
      let refuses = false;
      const send = async (): Promise<void> => void (refuses = true);
      const { endpoint, page, errors, start } = await openNotifyFixture(t, engine, {
        send,
        storeOf: refusing(() => refuses),
        mayFail: true,
      });
      await endpoint('https://phone.test/');
      const daemon = await start();
      await page();
      await until('the record was refused', () => errors.length >= 1);
      await daemon.stop();
    });

    test('a notification whose links cannot be made yet is retried', async (t) => {
      const sent: NotificationMessage[] = [];
      let links = 0;
      // The links are the one write in which ids of decision links are made.
      const storeOf = (store: Store): Store => ({
        ...store,
        write: (work, options) =>
          store.write(async (tx) => {
            const answer = await work(tx);
            const { count } = await tx.db
              .selectFrom('decision_links')
              .select((eb) => eb.fn.countAll<number>().as('count'))
              .executeTakeFirstOrThrow();
            if (count > 0 && links === 0) {
              links += 1;
              throw UNAVAILABLE;
            }
            return answer;
          }, options),
      });
      const { store, endpoint, start } = await openNotifyFixture(t, engine, {
        send: async (_target, message) => void sent.push(message),
        detail: 'full',
        storeOf,
      });
      const phone = await endpoint('https://phone.test/');
      await start();
      await gate(store, { planned: false });
      const row = await until('the first try is recorded', async () => {
        const found = await store.db
          .selectFrom('deliveries')
          .selectAll()
          .where('target', '=', phone)
          .executeTakeFirst();
        return found !== undefined && found.attempts > 0 ? found : undefined;
      });
      assert.deepEqual([row.state, row.failure], ['waiting', UNAVAILABLE.message]);
      await store.write(({ db }) => db.updateTable('deliveries').set({ next_at: 0 }).execute());
      await until('it is sent', () => sent.length === 1);
      assert.equal(sent[0]?.actions.length, 3);
    });

    test('sends that failed together are retried up to a fifth earlier or later', async (t) => {
      const { store, endpoint, page, start } = await openNotifyFixture(t, engine, {
        send: () => Promise.reject(new DialFailed('answered 500')),
      });
      for (let i = 0; i < 40; i += 1) await endpoint(`https://phone${i}.test/`);
      const id = await page();
      await start();
      const tries = store.db
        .selectFrom('deliveries')
        .innerJoin('endpoints', 'endpoints.id', 'deliveries.target')
        .select(['next_at', 'failed_at', 'attempts']);
      const rows = await until('all have failed once', async () => {
        const found = await tries.where('page_id', '=', id).execute();
        return found.length === 40 && found.every(({ attempts }) => attempts === 1) ? found : undefined;
      });
      const waits = rows.map((row) => row.next_at - (row.failed_at ?? 0));
      assert.ok(
        waits.every((ms) => ms >= 4_000 && ms <= 6_000),
        String(waits),
      );
      // Of forty by chance, none in either half is one in 10^12.
      assert.ok(waits.some((ms) => ms < 5_000) && waits.some((ms) => ms > 5_000), String(waits));
    });

    test('a target that is gone is removed once, with its reason, and its other deliveries are given up', async (t) => {
      const { store, endpoint, page, delivery, stateOfNotification, start } = await openNotifyFixture(t, engine, {
        send: () => Promise.reject(new DialFailed('answered 410', 'gone')),
      });
      const phone = await endpoint('https://phone.test/');
      const ids = [await page(), await page()];
      await start();
      await until('both are done', async () =>
        (await Promise.all(ids.map(stateOfNotification))).every((state) => state === 'done'),
      );
      const rows = await Promise.all(ids.map((id) => delivery(id, phone)));
      const result = rows.map((row) => [row?.state, row?.attempts, row?.failure]);
      // Which of the two is sent first, both being due, is not said.
      assert.deepEqual(
        result.toSorted(([, a], [, b]) => Number(a) - Number(b)),
        [
          ['gone', 0, null],
          ['gone', 1, 'answered 410'],
        ],
      );
      const pruned = await store.db
        .selectFrom('ledger')
        .select('target')
        .where('operation', '=', 'notify.endpoint.prune')
        .execute();
      assert.deepEqual(
        pruned.map(({ target }) => target),
        [phone],
      );
      assert.equal(await store.write((tx) => pruneEndpoint(tx, phone)), false);
    });

    test('an endpoint that its owner and its distributor remove at once is not removed twice', async (t) => {
      const { store, endpoint, page, stateOfNotification, start } = await openNotifyFixture(t, engine, {
        async send() {
          await store.write((tx) => deleteEndpoint(tx, phone, `local:${phone}`));
          throw new DialFailed('answered 410', 'gone');
        },
      });
      const phone = await endpoint('https://phone.test/');
      const daemon = await start();
      const id = await page();
      await until('it is removed', async () => (await stateOfNotification(id)) === 'done');
      // With what it has under way recorded.
      await daemon.stop();
      assert.deepEqual(
        await store.db.selectFrom('ledger').select('target').where('operation', '=', 'notify.endpoint.prune').execute(),
        [],
      );
    });

    test('a notification whose last two deliveries end at the same time, by two daemons, is done', async (t) => {
      const database = await engine.create();
      t.after(() => database.remove());
      const [one, other] = [await database.open(), await database.open()];
      for (let round = 0; round < 30; round += 1) {
        const id = newId('page', Date.now());
        await one.write(async (tx) => {
          await requestNotification(tx, { id, topic: id, facts: { kind: 'test', by: 'ana' } });
          await assignTargets(
            tx,
            id,
            ['notify:a#0', 'notify:b#0'].map((target) => ({ target, daemonId: 'dmn_a' })),
          );
        });
        const settle = (store: Store, target: string) =>
          store.write((tx) => settleDelivery(tx, { page_id: id, target, state: 'sent', failure: null }));
        await Promise.all([settle(one, 'notify:a#0'), settle(other, 'notify:b#0')]);
        assert.equal(
          (await one.db.selectFrom('pages').select('state').where('id', '=', id).executeTakeFirst())?.state,
          'done',
          `round ${round}`,
        );
      }
    });

    test('T80: an endpoint that was written into the database, or got another owner there, gets nothing', async (t) => {
      const database = await engine.create();
      t.after(() => database.remove());
      const store = await database.open();
      store.adoption.end();
      const row = { token_id: 'local:ana', owner: 'ana', label: null, p256dh: null, auth: null };
      const made = (id: string) => ({ ...row, id, endpoint: `https://phone.test/${id}` });
      const never = { created_at: 1, sent_at: null, failed_at: null, failure: null, failures: 0 };
      await store.write(async (tx) => {
        await insertEndpoint(tx, made('ep_own'));
        await insertEndpoint(tx, made('ep_moved'));
        await insertEndpoint(tx, { ...made('ep_own'), auth: 'renewed' });
        const forged = { ...made('ep_forged'), ...never, order_tag: null, order_key_id: null };
        await tx.db.insertInto('endpoints').values(forged).execute();
        await tx.db.updateTable('endpoints').set({ owner: 'eve' }).where('id', '=', 'ep_moved').execute();
      });
      assert.deepEqual(
        (await listLiveEndpoints(store, Date.now())).map(({ id }) => id),
        ['ep_own'],
      );
    });

    test('endpoints of revoked or expired tokens count neither as registered nor as failing', async (t) => {
      const database = await engine.create();
      t.after(() => database.remove());
      const store = await database.open();
      const now = Date.now();
      const [live, revoked, expired] = [
        makeToken({ name: 'live' }),
        makeToken({ name: 'revoked', revoked_at: now - 1 }),
        makeToken({ name: 'expired', expires_at: now - 1 }),
      ];
      await store.write(async (tx) => {
        await tx.db.insertInto('tokens').values([live, revoked, expired]).execute();
        for (const { id: tokenId } of [live, revoked, expired, { id: 'local:ana' }]) {
          const id = newId('ep', tx.now);
          await insertEndpoint(tx, {
            id,
            token_id: tokenId,
            owner: 'ana',
            endpoint: `https://phone.test/${tokenId}`,
            label: null,
            p256dh: null,
            auth: null,
          });
          await recordAttempt(tx, id, 'answered 500');
        }
      });
      assert.partialDeepStrictEqual(await countDeliveries(store.db, now - DAY_MS, now), { endpoints: 2, failing: 2 });
    });
  });
}
