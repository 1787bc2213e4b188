/** Notifications on each database: dead targets hold up nothing, refused ones are retried, each is sent once. */
import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { describe, test } from 'node:test';
import type { NotificationMessage } from '../../../src/domain/notify/row.ts';
import { DialFailed } from '../../../src/dial/dial-failed.ts';
import type { EndpointTarget } from '../../../src/push/endpoint.ts';
import { deleteEndpoint } from '../../../src/store/notify/endpoints.ts';
import { until } from '../../support/api-client.ts';
import { gate } from '../../support/fixtures/approvals.ts';
import { heldClock, openNotifyFixture, saying, serve } from '../../support/notify/fixture.ts';
import { ENGINES } from '../engine-fixture.ts';

function dripping(socket: Socket): void {
  const timer = setInterval(() => socket.write('a'), 1_000);
  socket.on('close', () => clearInterval(timer));
}

function endless(socket: Socket): void {
  socket.write('HTTP/1.1 200 OK\r\n');
  const more = (): void => {
    while (!socket.destroyed && socket.write(`x-more: ${'y'.repeat(1_000)}\r\n`));
  };
  socket.on('drain', more);
  more();
}

/** Against a test that hangs: nothing is asserted about the time. */
const LIMIT_MS = 30_000;

for (const engine of ENGINES) {
  describe(`Notifications on ${engine.name}`, () => {
    test('F19: of 100 endpoints 99 are dead: the live one gets all, 404 and 410 prune, others say why', async (t) => {
      const { clock: sendClock, letGo } = heldClock();
      const { store, arrived, endpoint, page, start } = await openNotifyFixture(t, engine, { sendClock });
      // What is waited for ends before the daemons are stopped, also where the test fails.
      t.after(letGo);
      const kinds: readonly (readonly [reason: RegExp | null, url: string])[] = [
        [null, await serve(t, saying('404 Not Found'))],
        [null, await serve(t, saying('410 Gone'))],
        [/^answered 429$/, await serve(t, saying('429 Too Many Requests\r\nretry-after: 60'))],
        [/^answered 500$/, await serve(t, saying('500 Internal Server Error'))],
        [/^answered 507$/, await serve(t, saying('507 Insufficient Storage'))],
        [/^no answer within 5s$/, await serve(t, () => undefined)],
        [/^the connection failed \(HPE_/, await serve(t, dripping)],
        [/^no connection within 3s$|^the connection failed/, await serve(t, (socket) => void socket.resume(), 'https')],
        [/^the connection failed \((ECONNRESET|EPIPE)\)$/, await serve(t, (socket) => void socket.resetAndDestroy())],
        [/^the connection failed \(HPE_HEADER_OVERFLOW\)$/, await serve(t, endless)],
        [/^the connection failed \(ECONNREFUSED\)$/, 'http://127.0.0.1:1/'],
      ];
      const dead: [RegExp | null, string][] = [];
      for (let i = 0; i < 99; i += 1) {
        const [reason, url] = kinds[i % kinds.length]!;
        dead.push([reason, await endpoint(url)]);
      }
      const live = await serve(t, saying('200 OK'));
      await endpoint(live);
      await start();
      // No send reaches its time limit before the test says so: code that waits for one of them would wait for ever.
      for (let round = 0; round < 3; round += 1) {
        const id = await page();
        await until(
          'the live one gets its page',
          () => arrived.some((each) => each.url === live && each.id === id),
          LIMIT_MS,
        );
      }
      const idsOf = (isKind: (reason: RegExp | null) => boolean): string[] =>
        dead.filter(([reason]) => isKind(reason)).map(([, id]) => id);
      const pruned = idsOf((reason) => reason === null);
      const silent = idsOf((reason) => reason?.source.startsWith('^no ') === true);
      const failed = async (): Promise<Map<string, string>> => {
        const rows = await store.db.selectFrom('endpoints').select(['id', 'failures', 'failure']).execute();
        const those = rows.some(({ id }) => pruned.includes(id)) ? [] : rows.filter(({ failures }) => failures > 0);
        return new Map(those.map(({ id, failure }) => [id, failure ?? '']));
      };
      const others = 99 - pruned.length - silent.length;
      const before = await until('what is quick to fail is on its row', async () => {
        const ids = await failed();
        return ids.size >= others ? ids : undefined;
      });
      assert.deepEqual([silent.length, silent.filter((id) => before.has(id))], [18, []]);
      letGo();
      const after = await until('every failure is on its row', async () => {
        const ids = await failed();
        return ids.size === others + silent.length ? ids : undefined;
      });
      // What was under way to the quick ones when the time was let go ended by that, too.
      for (const [reason, id] of dead)
        if (reason !== null && !/HPE_/.test(reason.source)) assert.match(before.get(id) ?? after.get(id) ?? '', reason);
      assert.equal((await store.db.selectFrom('endpoints').select('id').execute()).length, 100 - pruned.length);
    });

    test('A refused notification is tried five times, with growing pauses, and then given up', async (t) => {
      const { store, endpoint, page, stateOfNotification, start } = await openNotifyFixture(t, engine, {
        send: () => Promise.reject(new DialFailed('answered 500')),
      });
      await endpoint('http://127.0.0.1:1/');
      const id = await page();
      await start();
      const waits: number[] = [];
      for (let attempt = 1; attempt <= 5; attempt += 1) {
        const row = await until(`try ${attempt}`, async () => {
          const tries = store.db.selectFrom('deliveries').innerJoin('endpoints', 'endpoints.id', 'deliveries.target');
          const found = await tries
            .select(['attempts', 'state', 'next_at', 'failed_at'])
            .where('page_id', '=', id)
            .executeTakeFirst();
          return found?.attempts === attempt ? found : undefined;
        });
        if (attempt < 5) waits.push(row.next_at - (row.failed_at ?? 0));
        else assert.equal(row.state, 'dead');
        await store.write(({ db }) =>
          db.updateTable('deliveries').set({ next_at: 0 }).where('page_id', '=', id).execute(),
        );
      }
      for (const [i, [least, most]] of [
        [4_000, 6_000],
        [24_000, 36_000],
        [96_000, 144_000],
        [336_000, 504_000],
      ].entries()) {
        assert.ok(waits[i]! >= least! && waits[i]! <= most!, `wait ${i} is ${waits[i]} ms`);
      }
      assert.equal(await stateOfNotification(id), 'done');
    });

    test('A removed endpoint gets no pending notification; others do, and the notification is done', async (t) => {
      const sent: string[] = [];
      const send = async ({ endpoint: url }: EndpointTarget): Promise<void> => {
        sent.push(url);
        if (url.endsWith('gone')) throw new DialFailed('answered 503');
      };
      const { store, endpoint, page, delivery, stateOfNotification, start } = await openNotifyFixture(t, engine, {
        send,
      });
      const [gone, kept] = [await endpoint('http://push.test/gone'), await endpoint('http://push.test/kept')];
      await start();
      const id = await page();
      await until(
        'both were tried',
        async () => (await delivery(id, gone))?.attempts === 1 && (await delivery(id, kept))?.state === 'sent',
      );
      assert.equal(await stateOfNotification(id), 'sending');
      await store.write((tx) => deleteEndpoint(tx, gone, `local:${gone}`));
      assert.deepEqual([(await delivery(id, gone))?.state, await stateOfNotification(id)], ['gone', 'done']);
      await store.write(({ db }) => db.updateTable('deliveries').set({ next_at: 0 }).execute());
      const next = await page();
      await until('the other gets the next', async () => (await stateOfNotification(next)) === 'done');
      assert.deepEqual(sent.toSorted(), ['http://push.test/gone', 'http://push.test/kept', 'http://push.test/kept']);
    });

    test('The requester gets no links; the two devices of another person share one pair', async (t) => {
      const sent = new Map<string, NotificationMessage>();
      const { store, endpoint, start } = await openNotifyFixture(t, engine, {
        send: async ({ endpoint: url }, message) => void sent.set(url, message),
        detail: 'full',
      });
      await endpoint('https://asker.test/', 'ci');
      await endpoint('https://phone.test/', 'ana');
      await endpoint('https://tablet.test/', 'ana');
      await start();
      await gate(store, { planned: false, owners: ['root', 'ci'] });
      await until('all three are notified', () => (sent.size === 3 ? true : undefined));
      const actions = (url: string) => sent.get(url)?.actions ?? [];
      assert.deepEqual(actions('https://asker.test/'), []);
      assert.equal(actions('https://phone.test/').length, 3);
      assert.deepEqual(actions('https://phone.test/'), actions('https://tablet.test/'));
    });

    test('two daemons on one database send each notification once', async (t) => {
      const { store, arrived, endpoint, page, start } = await openNotifyFixture(t, engine);
      const phone = await serve(t, saying('200 OK'));
      for (const device of ['a', 'b', 'c']) await endpoint(`${phone}${device}`);
      await Promise.all([start(), start()]);
      const ids = await Promise.all(Array.from({ length: 30 }, () => page()));
      await until('all are notified', () => (arrived.length >= 90 ? true : undefined));
      await until('all is recorded', async () =>
        (await store.db.selectFrom('deliveries').select('target').where('state', '!=', 'sent').execute()).length === 0
          ? true
          : undefined,
      );
      const once = new Set(arrived.map(({ id, url }) => `${id} ${url}`));
      assert.deepEqual([arrived.length, once.size, new Set(arrived.map(({ id }) => id)).size], [90, 90, ids.length]);
      assert.deepEqual(
        [...new Set((await store.db.selectFrom('pages').select('state').execute()).map(({ state }) => state))],
        ['done'],
      );
    });

    test('the unsent notifications of a stopped daemon are sent by the other, once', async (t) => {
      let taken = 0;
      const { store, endpoint, page, start } = await openNotifyFixture(t, engine, {
        send: () => (taken === 0 ? Promise.reject(new DialFailed('answered 503')) : Promise.resolve()),
      });
      await endpoint('http://127.0.0.1:1/');
      const first = await start();
      const id = await page();
      const delivery = () => store.db.selectFrom('deliveries').selectAll().where('page_id', '=', id).executeTakeFirst();
      await until('the first one has tried', async () => ((await delivery())?.attempts === 1 ? true : undefined));
      await first.stop();
      taken = 1;
      await store.write(async ({ db }) => {
        await db.updateTable('daemons').set({ stopped_at: Date.now() }).where('id', '=', first.id).execute();
        await db.updateTable('deliveries').set({ next_at: 0 }).execute();
      });
      const second = await start();
      const sent = await until('the other one has sent it', async () => {
        const row = await delivery();
        return row?.state === 'sent' ? row : undefined;
      });
      assert.deepEqual([sent.daemon_id, sent.attempts], [second.id, 2]);
    });
  });
}
