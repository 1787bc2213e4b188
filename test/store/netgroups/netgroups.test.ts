import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { NETGROUP_LIMITS, readPrefixList } from '../../../src/domain/netgroups/prefix-list.ts';
import { pause, systemClock } from '../../../src/lib/clock.ts';
import type { Tx } from '../../../src/store/engine/tx.ts';
import {
  currentNetgroups,
  deleteNetgroup,
  insertNetgroup,
  listNetgroups,
  replaceNetgroup,
} from '../../../src/store/netgroups/netgroups.ts';
import type { NetgroupRow } from '../../../src/store/schema/schema.ts';
import type { Store } from '../../../src/store/store.ts';
import { refusal } from '../../support/refusal.ts';
import { ENGINES, freshStore } from '../engine-fixture.ts';

const add = (store: Store, name: string, list: string): Promise<NetgroupRow> =>
  store.write((tx) => insertNetgroup(tx, name, readPrefixList(list)));
const set = (store: Store, name: string, list: string): Promise<NetgroupRow> =>
  store.write((tx) => replaceNetgroup(tx, name, readPrefixList(list)));
const remove = (store: Store, name: string): Promise<NetgroupRow> => store.write((tx) => deleteNetgroup(tx, name));

const ONE = readPrefixList('10.0.0.0/8');

/** A clock without time, so that only commits make the data old. */
const timeless = { monotonic: () => 0 };

for (const engine of ENGINES) {
  describe(`Netgroups on ${engine.name}`, () => {
    const its = freshStore(engine);

    test('are stored in canonical form and listed by name', async () => {
      const lab = await add(its.store, 'lab', 'FD00::/8');
      const eu = await add(its.store, 'dc-eu', '10.0.1.2/16, 192.168.0.0/16, !10.0.9.0/24');
      assert.deepEqual([eu.prefixes, eu.excludes], ['10.0.0.0/16,192.168.0.0/16', '10.0.9.0/24']);
      assert.deepEqual([lab.prefixes, lab.excludes], ['fd00::/8', '']);
      assert.deepEqual(
        (await listNetgroups(its.store.db)).map((row) => ({ ...row })),
        [eu, lab],
      );
    });

    test('are not more than the limit when two processes add one at the same time', async () => {
      const other = await its.database.open();
      const { groups } = NETGROUP_LIMITS;
      await its.store.write(async (tx) => {
        for (let index = 1; index < groups; index += 1) await insertNetgroup(tx, `g${index}`, ONE);
      });
      let second: Promise<unknown> = Promise.resolve();
      await its.store.write(async (tx) => {
        await insertNetgroup(tx, 'first', ONE);
        second = add(other, 'second', '10.0.0.0/8').catch((error: unknown) => error);
        // It has committed by now where it does not wait for this write.
        await Promise.race([second, pause(systemClock, 300)]);
      });
      assert.ok(refusal('conflict')(await second));
      assert.equal((await listNetgroups(its.store.db)).length, groups);
    });

    test('have a name each, and keep their id when their prefixes are replaced', async () => {
      const { id } = await add(its.store, 'dc', '10.0.0.0/16,!10.0.9.0/24');
      await assert.rejects(add(its.store, 'dc', '10.1.0.0/16'), refusal('duplicate'));
      const replaced = await set(its.store, 'dc', '10.2.0.0/16');
      assert.deepEqual([replaced.id, replaced.prefixes, replaced.excludes], [id, '10.2.0.0/16', '']);
      await assert.rejects(set(its.store, 'none', '10.2.0.0/16'), refusal('not_found'));
      await remove(its.store, 'dc');
      await assert.rejects(remove(its.store, 'dc'), refusal('not_found'));
      assert.deepEqual(await listNetgroups(its.store.db), []);
    });

    test('are known after each change of this process, also of two within one millisecond', async () => {
      const groups = currentNetgroups(its.store, timeless);
      const where = async (): Promise<string> => (await groups.current()).classify('::ffff:10.1.0.1');
      const change = async (work: (tx: Tx) => Promise<unknown>): Promise<string> => {
        await its.store.write(async (tx) => {
          tx.afterCommit(() => groups.forget());
          await work(tx);
        });
        return where();
      };
      assert.equal(await where(), 'away');
      assert.equal(await change((tx) => insertNetgroup(tx, 'dc', readPrefixList('10.0.0.0/8'))), 'dc');
      const twice = change(async (tx) => {
        await replaceNetgroup(tx, 'dc', readPrefixList('10.2.0.0/16'));
        await replaceNetgroup(tx, 'dc', readPrefixList('10.3.0.0/16'));
      });
      assert.equal(await twice, 'away');
      const other = change(async (tx) => {
        await deleteNetgroup(tx, 'dc');
        await insertNetgroup(tx, 'db', readPrefixList('10.1.0.0/16'));
      });
      assert.equal(await other, 'db');
    });

    test('are compiled once while nothing changes them', async () => {
      await add(its.store, 'dc', '10.0.0.0/8');
      const groups = currentNetgroups(its.store, timeless);
      const first = await groups.current();
      // A commit that changes no netgroup.
      await its.store.write((tx) => Promise.resolve(tx.announce()));
      assert.equal(await groups.current(), first);
      const [second, third] = await Promise.all([groups.current(), groups.current()]);
      assert.equal(second, third);
    });

    test('are known after a change of another process', async () => {
      const other = await its.database.open();
      const groups = currentNetgroups(its.store, timeless);
      assert.equal((await groups.current()).classify('10.1.0.1'), 'away');
      const heard = new Promise<void>((resolve) => {
        const stop = its.store.onForeignCommit(() => {
          stop();
          resolve();
        });
      });
      await add(other, 'dc', '10.0.0.0/8');
      await heard;
      assert.equal((await groups.current()).classify('10.1.0.1'), 'dc');
    });

    test('T80: one that cannot be read covers nothing, is named, and holds up no other', async () => {
      await add(its.store, 'bad', '10.0.0.0/8');
      await add(its.store, 'dc', '10.0.0.0/8');
      await its.store.write(({ db }) =>
        db.updateTable('netgroups').set({ excludes: '10.0.0.0/99' }).where('name', '=', 'bad').execute(),
      );
      const index = await currentNetgroups(its.store, systemClock).current();
      assert.deepEqual([index.classify('10.1.0.1'), index.unread], ['dc', ['bad']]);
    });
  });
}
