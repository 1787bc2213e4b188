/** Rows that somebody wrote into the database and that no read takes: they hold up no notification. */
import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { collectNotifications } from '../../../src/daemon/notify/collect.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { newId } from '../../../src/lib/id.ts';
import { toJson } from '../../../src/lib/json.ts';
import { hasLeft, takeOver } from '../../../src/store/notify/deliveries.ts';
import { requestNotification } from '../../../src/store/notify/notifications.ts';
import { targetsJson } from '../../../src/store/notify/targets.ts';
import type { EventRow, NotificationRow } from '../../../src/store/schema/schema.ts';
import { gate } from '../../support/fixtures/approvals.ts';
import { tamper } from '../../support/store/rewrite.ts';
import { addDaemon, ENGINES, freshStore, leaseClock } from '../engine-fixture.ts';

const OPS = { id: 'notify:ops#0', name: 'ops', key: '0'.repeat(64), label: 'ntfy at ntfy.test' };
/** More than a number holds exactly, and the most that the databases hold. */
const LAST_TIME = 9_223_372_036_854_775_807n as unknown as number;

/** What no build writes. */
const BAD = { text: '{', none: 'null', kind: '{"kind":"zzz"}' } as Record<
  'text' | 'none' | 'kind',
  NotificationRow['detail']
>;

for (const engine of ENGINES) {
  describe(`T80: one bad row holds up no notification on ${engine.name}`, () => {
    const its = freshStore(engine);
    let errors: unknown[] = [];
    beforeEach(() => {
      errors = [];
      its.store.adoption.end();
    });

    /** All that is due, as a daemon collects it. */
    async function collect(): Promise<void> {
      const deps = {
        store: its.store,
        clock: systemClock,
        self: () => 'dmn_a',
        transports: () => [OPS],
        onError: (error: unknown) => void errors.push(error),
      };
      let passes = 0;
      while ((await collectNotifications(deps)) > 0) assert.ok((passes += 1) < 20, 'passes come to an end');
    }

    /** The topics of what is sent. */
    async function sent(): Promise<string[]> {
      const assigned = its.store.db.selectFrom('deliveries').select('page_id');
      const rows = await its.store.db.selectFrom('pages').select('topic').where('id', 'in', assigned).execute();
      return rows.map(({ topic }) => topic);
    }

    const asked = (ttlMs?: number) => gate(its.store, { planned: false, ...(ttlMs === undefined ? {} : { ttlMs }) });

    const page = (some: Partial<NotificationRow>) => {
      const id = newId('page', Date.now());
      const row: NotificationRow = {
        id,
        topic: id,
        kind: 'approval',
        state: 'done',
        job_id: null,
        approval_id: null,
        detail: BAD.text,
        reason: null,
        followed: 0,
        created_at: Date.now(),
        burst: null,
        ...some,
      };
      return its.store.write((tx) => tx.db.insertInto('pages').values(row).execute());
    };

    test('T80: a daemon that somebody wrote, with targets that are no JSON or those of another', async () => {
      const lease = engine.hasLeases ? (await leaseClock(its.store)) + 3_600_000 : null;
      await addDaemon(its.store, 'dmn_a', lease);
      await addDaemon(its.store, 'dmn_bad', lease);
      await tamper(its.store, 'daemons', 'dmn_bad', { notify_targets: 'not json' });
      await addDaemon(its.store, 'dmn_forged', null);
      const forged = { notify_targets: targetsJson([{ name: 'dev', key: 'b'.repeat(64) }]), order_tag: null };
      await tamper(its.store, 'daemons', 'dmn_forged', forged);
      const { approval } = await asked();
      await collect();
      assert.deepEqual(await sent(), [`approval:${approval.id}`]);
      const rows = await its.store.db.selectFrom('deliveries').select('daemon_id').execute();
      assert.deepEqual(rows, [{ daemon_id: 'dmn_a' }]);
    });

    test('T80: targets of an earlier build that cannot be read count as none', async () => {
      const store = await its.database.open();
      await addDaemon(store, 'dmn_old', null);
      await tamper(store, 'daemons', 'dmn_old', { notify_targets: 'not json', order_tag: null, order_key_id: null });
      await asked();
      await collect();
      assert.equal((await sent()).length, 1);
    });

    test('T80: a request about an event whose labels are no JSON', async () => {
      const alert = newId('evt', Date.now());
      const event: EventRow = {
        id: alert,
        source: 'generic',
        name: 'DiskFull',
        status: 'firing',
        netgroup: null,
        severity: null,
        fingerprint: 'f',
        labels: 'x' as EventRow['labels'],
        outcome: 'gated',
        reason: 'r',
        rule: null,
        job_id: null,
        approval_id: null,
        received_at: Date.now(),
        annotations: toJson({}),
        check_observations: null,
        trace: toJson([]),
        depth: 0,
      };
      await its.store.write((tx) => tx.db.insertInto('events').values(event).execute());
      await gate(its.store, { planned: false, alert });
      const { approval } = await asked();
      await collect();
      assert.ok((await sent()).includes(`approval:${approval.id}`));
    });

    test('T80: a request whose time is the last that the database has, and its reminder', async () => {
      const { approval: bad } = await asked();
      const { approval } = await asked(1_000_000);
      await collect();
      assert.equal((await sent()).length, 2);
      const { approval: later } = await asked();
      const early = { created_at: Date.now() - 2_000_000 };
      await tamper(its.store, 'approvals', approval.id, early);
      for (const { id } of [bad, later]) await tamper(its.store, 'approvals', id, { ...early, expires_at: LAST_TIME });
      await its.store.write((tx) => tx.db.updateTable('pages').set({ created_at: early.created_at }).execute());
      const { approval: next } = await asked();
      await collect();
      const topics = await sent();
      assert.ok(topics.includes(`reminder:${approval.id}`), String(topics));
      assert.ok(topics.includes(`approval:${next.id}`), String(topics));
    });

    test('T80: a settled request of an unknown kind, whose outcome is to be sent, once', async () => {
      const { approval: bad } = await asked();
      const { approval } = await asked();
      await collect();
      await tamper(its.store, 'approvals', bad.id, { state: 'rejected', kind: 'zzz' });
      await tamper(its.store, 'approvals', approval.id, { state: 'rejected' });
      await page({ topic: 'zzz', approval_id: approval.id });
      await page({ topic: 'yyy', approval_id: bad.id });
      await collect();
      assert.ok((await sent()).includes(`decided:${approval.id}`));
      assert.equal(errors.length, 1);
      await collect();
      assert.equal(errors.length, 1, 'it is reported once');
    });

    test('T80: notifications whose text is no JSON, or that have a delivery already', async () => {
      await page({ state: 'new', kind: 'job', burst: 'job', created_at: 1 });
      await page({ state: 'new', kind: 'job', burst: 'job', detail: BAD.none, created_at: 1 });
      for (let index = 0; index < 6; index += 1)
        await page({ state: 'new', kind: 'job', burst: 'job', detail: BAD.kind, created_at: 1 });
      const taken = newId('page', 0);
      await page({ id: taken, state: 'new', kind: 'test', detail: toJson({ kind: 'test', by: 'ana' }) });
      await its.store.write((tx) =>
        tx.db
          .insertInto('deliveries')
          .values({
            page_id: taken,
            target: OPS.id,
            state: 'dead',
            daemon_id: 'dmn_x',
            attempts: 0,
            next_at: 0,
            failure: null,
            settled_at: null,
          })
          .execute(),
      );
      const facts = { kind: 'test', by: 'ana' } as const;
      await its.store.write((tx) => requestNotification(tx, { topic: 'test:mine', facts }));
      await collect();
      assert.ok((await sent()).includes('test:mine'));
    });

    test('T80: what was assigned to a daemon that is not there is taken over', async () => {
      await addDaemon(its.store, 'dmn_a', null);
      await asked();
      await collect();
      await its.store.write((tx) => tx.db.updateTable('deliveries').set({ daemon_id: 'dmn_forged' }).execute());
      assert.equal(await hasLeft(its.store.db, [OPS.id], Date.now()), true);
      assert.equal(await its.store.write((tx) => takeOver(tx, 'dmn_a', [OPS.id])), 1);
      assert.equal(await hasLeft(its.store.db, [OPS.id], Date.now()), false);
    });
  });
}
