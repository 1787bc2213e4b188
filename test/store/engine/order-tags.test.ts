/** What a tag covers, in each table that has tags. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { TAGGED_TABLES, type TaggedTable, textOf } from '../../../src/store/engine/tags/forms.ts';
import { checkTag, isTagged, retagged, tagOf } from '../../../src/store/engine/tags/tags.ts';
import { createKeyring } from '../../../src/lib/seal.ts';
import { adoptOrders } from '../../../src/store/maintenance/adopt-orders.ts';
import { getSource, insertSource } from '../../../src/store/sources/sources.ts';
import { getWorkspace, insertWorkspace, updateWorkspace } from '../../../src/store/workspaces/workspaces.ts';
import { workspaceRow } from '../../support/fixtures/workspace-row.ts';
import { TEST_RING } from '../../support/seal.ts';
import { ENGINES, enqueue, freshStore, addDaemon } from '../engine-fixture.ts';

type Row = Record<string, unknown> & { order_tag: string; order_key_id: string };

/** The columns that the tag of a table covers: those that its text asks for. */
function coveredBy(table: TaggedTable): readonly string[] {
  const asked = new Set<string>();
  const row = new Proxy({}, { get: (_, column) => asked.add(String(column)) && 'set' });
  textOf(table, row);
  return [...asked];
}

/** A row with a text in each covered column, and its tag. */
function tagged(table: TaggedTable): Row {
  const row = Object.fromEntries(coveredBy(table).map((column) => [column, `${column} of it`]));
  return { ...row, ...tagOf(TEST_RING, table, row as never) } as Row;
}

function tagLengthOf(privileged: 0 | 1): number | undefined {
  const row = { ...tagged('jobs'), privileged, spec: '{}' } as never;
  return tagOf(TEST_RING, 'jobs', row).order_tag?.length;
}

describe('T80: the tag of a row', () => {
  for (const table of TAGGED_TABLES)
    test(`T80: of ${table} covers each column of the order, and no row of another table has it`, () => {
      const row = tagged(table);
      assert.ok(isTagged(TEST_RING, table, row));
      for (const column of coveredBy(table))
        for (const value of ['another', '', null, 0])
          assert.equal(isTagged(TEST_RING, table, { ...row, [column]: value }), false, `${column}: ${value}`);
      for (const other of TAGGED_TABLES)
        if (other !== table) assert.equal(isTagged(TEST_RING, other, { ...tagged(other), ...row }), false, other);
      for (const broken of [{ order_tag: null }, { order_key_id: null }, { order_key_id: '0'.repeat(16) }])
        assert.equal(isTagged(TEST_RING, table, { ...row, ...broken }), false);
      assert.equal(isTagged(TEST_RING, table, { ...row, order_tag: row.order_tag.slice(0, -1) }), false);
    });

  test('T80: is whole where a daemon of an earlier build compares it, and short elsewhere', () => {
    assert.deepEqual([tagLengthOf(1), tagLengthOf(0)], [64, 22]);
  });

  test('T80: stays wrong when a column of a row that somebody changed is set', () => {
    const row = { ...tagged('workspaces'), path: '/root' } as never;
    assert.deepEqual(retagged(TEST_RING, 'workspaces', row, { deny_when: 'true' }), { deny_when: 'true' });
  });
});

for (const engine of ENGINES)
  test(`T80: a tag by a key that another process made a moment ago is right at once, on ${engine.name}`, async (t) => {
    const database = await engine.create();
    t.after(() => database.remove());
    const old = { key: Buffer.alloc(32, 1), createdAt: null };
    let ring = createKeyring([old]);
    const store = await database.open({ keyring: () => Promise.resolve(ring) });
    await store.write((tx) => insertSource(tx, SOURCE));
    ring = createKeyring([old, { key: Buffer.alloc(32, 2), createdAt: null }]);
    const other = await database.open({ keyring: () => Promise.resolve(ring) });
    await other.write((tx) => insertSource(tx, { ...SOURCE, name: 'new' }));
    const row = await getSource(store.db, 'new');
    assert.equal(row.order_key_id, ring.activeId);
    await checkTag(store, 'sources', row);
    await store.write((tx) => checkTag(tx, 'sources', row));
    await assert.rejects(
      checkTag(store, 'sources', { ...row, order_key_id: '0'.repeat(16) }),
      /not in the seal key file/,
    );
  });

for (const engine of ENGINES) {
  describe(`T80: rows of earlier builds on ${engine.name}`, () => {
    const its = freshStore(engine);
    const untag = (): Promise<unknown> =>
      its.store.write(async ({ db }) => {
        const none = { order_tag: null, order_key_id: null };
        await db.updateTable('workspaces').set(none).execute();
        await db.updateTable('jobs').set(none).execute();
        await db.updateTable('ledger_keying').set({ orders_adopted_at: null }).execute();
      });

    test('T80: are tagged once, with a row of the ledger, and not after that', async () => {
      await its.store.write((tx) => insertWorkspace(tx, workspaceRow('net')));
      await its.store.write((tx) => insertSource(tx, SOURCE));
      const job = await enqueue(its.store);
      await untag();
      assert.equal(await adoptOrders(its.store, true), true);
      const row = await getWorkspace(its.store.db, 'net');
      assert.ok(isTagged(TEST_RING, 'workspaces', row));
      const { db } = its.store;
      assert.ok(isTagged(TEST_RING, 'jobs', await db.selectFrom('jobs').selectAll().executeTakeFirstOrThrow()), job);
      const rows = db.selectFrom('ledger').select('detail').where('operation', '=', 'orders.tag');
      const [ledger] = await rows.execute();
      assert.deepEqual((JSON.parse(ledger?.detail ?? '') as { tagged: object }).tagged, {
        ...Object.fromEntries(TAGGED_TABLES.map((table) => [table, 0])),
        jobs: 1,
        workspaces: 1,
      });
      await its.store.write(({ db: to }) => to.updateTable('workspaces').set({ order_tag: null }).execute());
      assert.equal(await adoptOrders(its.store, true), true);
      assert.equal((await getWorkspace(db, 'net')).order_tag, null);
      assert.equal((await rows.execute()).length, 1);
    });

    test('T80: get none where this machine remembers that it was done, or another wrote what was tagged', async () => {
      await its.store.write((tx) => insertWorkspace(tx, workspaceRow('net')));
      await untag();
      assert.equal(await adoptOrders(its.store, false), true);
      assert.equal((await getWorkspace(its.store.db, 'net')).order_tag, null);
      await its.store.write((tx) => updateWorkspace(tx, 'net', { path: '/srv/other' }));
      assert.equal((await getWorkspace(its.store.db, 'net')).order_tag, null);
    });

    test('T80: a privileged job without a tag gets none: an earlier build would have tagged it', async () => {
      await enqueue(its.store);
      await untag();
      await its.store.write(({ db }) => db.updateTable('jobs').set({ privileged: 1 }).execute());
      await adoptOrders(its.store, true);
      const row = await its.store.db.selectFrom('jobs').selectAll().executeTakeFirstOrThrow();
      assert.equal(row.order_tag, null);
    });

    test(
      'T80: wait while a daemon of an earlier build runs',
      { skip: engine.name === 'SQLite' && 'one daemon' },
      async () => {
        await its.store.write((tx) => insertWorkspace(tx, workspaceRow('net')));
        await untag();
        const { id } = await addDaemon(its.store, 'dmn_old', Date.now() + 60_000);
        const live = (columns: { tags_orders?: null; stopped_at?: number }): Promise<unknown> =>
          its.store.write(({ db }) => db.updateTable('daemons').set(columns).where('id', '=', id).execute());
        await live({ tags_orders: null });
        assert.equal(await adoptOrders(its.store, true), false);
        assert.equal((await getWorkspace(its.store.db, 'net')).order_tag, null);
        await live({ stopped_at: 1 });
        assert.equal(await adoptOrders(its.store, true), true);
        assert.ok(isTagged(TEST_RING, 'workspaces', await getWorkspace(its.store.db, 'net')));
      },
    );
  });
}

const SOURCE = {
  name: 'ops',
  kind: 'dir',
  location: '/srv/ops',
  ref: null,
  commit_id: null,
  synced_at: null,
  created_at: 1,
} as const;
