import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { SourceRow } from '../../../src/store/schema/schema.ts';
import {
  deleteSource,
  findSource,
  getSource,
  holdSource,
  insertSource,
  keepSourceDirectory,
  listSources,
  moveSource,
  replaceSource,
} from '../../../src/store/sources/sources.ts';
import { insertWorkspace } from '../../../src/store/workspaces/workspaces.ts';
import { refusal } from '../../support/refusal.ts';
import { workspaceRow } from '../../support/fixtures/workspace-row.ts';
import { ENGINES, freshStore } from '../engine-fixture.ts';

function source(name: string, some: Partial<SourceRow> = {}): SourceRow {
  return {
    name,
    kind: 'git',
    location: 'git@h:x',
    ref: 'main',
    commit_id: 'a'.repeat(40),
    synced_at: 5,
    created_at: 1,
    plugins: 0,
    order_tag: null,
    order_key_id: null,
    dir_kept: null,
    approve_runs: null,
    except_check: null,
    ...some,
  };
}

for (const engine of ENGINES) {
  describe(`Sources on ${engine.name}`, () => {
    const its = freshStore(engine);
    const insert = (...rows: SourceRow[]): Promise<unknown> =>
      Promise.all(rows.map((row) => its.store.write((tx) => insertSource(tx, row))));

    test('A source is read as it was inserted, and listed by name', async () => {
      const dir = source('net', { kind: 'dir', location: '/srv/net', ref: null, commit_id: null, synced_at: null });
      await insert(source('ops'), dir);
      const { order_tag, order_key_id, ...stored } = await getSource(its.store.db, 'net');
      assert.deepEqual({ ...dir, ...stored }, dir);
      assert.ok(order_tag !== null && order_key_id !== null);
      assert.deepEqual(
        (await listSources(its.store.db)).map(({ name }) => name),
        ['net', 'ops'],
      );
      assert.equal(await findSource(its.store.db, 'none'), undefined);
      await assert.rejects(getSource(its.store.db, 'none'), refusal('not_found'));
    });

    test('T86: what a directory is is kept where the row did not change, and removed by a replacement', async () => {
      const dir = source('net', { kind: 'dir', location: '/srv/net', ref: null, commit_id: null });
      await insert(dir, source('ops'));
      const keep = (row: SourceRow, column: string): Promise<boolean> =>
        its.store.write((tx) => keepSourceDirectory(tx, row, column));
      const kept = async (): Promise<string | null> => (await getSource(its.store.db, 'net')).dir_kept;
      assert.equal(await keep(dir, '{"a":1}'), true);
      assert.equal(await keep(dir, '{"b":1}'), false, 'another run kept it first');
      assert.equal(await keep({ ...dir, dir_kept: '{"a":1}', location: '/srv/other' }, '{"b":1}'), false);
      assert.equal(await kept(), '{"a":1}');
      assert.equal(await keep({ ...dir, dir_kept: '{"a":1}' }, '{"a":1,"b":1}'), true);
      await its.store.write((tx) => moveSource(tx, dir, { commit: null, dirKept: '{"c":1}' }));
      assert.equal(await kept(), '{"c":1}');
      assert.equal(await keep(source('ops'), '{"a":1}'), false, 'a git source has no directory');
      await its.store.write((tx) => replaceSource(tx, source('net')));
      assert.equal(await kept(), null);
    });

    test('A name is unique, also when two processes add it at once', async () => {
      const other = await its.database.open();
      const results = await Promise.allSettled(
        [its.store, other, its.store, other].map((each) => each.write((tx) => insertSource(tx, source('ops')))),
      );
      assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 1);
      for (const each of results)
        if (each.status === 'rejected') assert.ok(refusal('duplicate')(each.reason), String(each.reason));
    });

    test('The result of a fetch is recorded, unless the source was replaced by another one of its name', async () => {
      await insert(source('ops'));
      const row = await its.store.write((tx) =>
        moveSource(tx, source('ops'), { commit: 'b'.repeat(40), dirKept: null }),
      );
      assert.deepEqual([row.commit_id, row.ref, row.created_at], ['b'.repeat(40), 'main', 1]);
      assert.ok((row.synced_at ?? 0) > 5);
      await assert.rejects(
        its.store.write((tx) =>
          moveSource(tx, source('ops', { created_at: 2 }), { commit: 'c'.repeat(40), dirKept: null }),
        ),
        refusal('not_found'),
      );
      await assert.rejects(
        its.store.write((tx) => moveSource(tx, source('none'), { commit: null, dirKept: null })),
        refusal('not_found'),
      );
      assert.equal((await getSource(its.store.db, 'ops')).commit_id, 'b'.repeat(40));
    });

    test('A source that a workspace uses cannot be removed, and the refusal names the workspace', async () => {
      await insert(source('ops'), source('free'));
      await its.store.write((tx) => insertWorkspace(tx, workspaceRow('net', { source: 'ops', path: '' })));
      await assert.rejects(
        its.store.write((tx) => deleteSource(tx, 'ops')),
        (error) => refusal('conflict')(error) && /workspace net uses/.test(String(error)),
      );
      await its.store.write((tx) => deleteSource(tx, 'free'));
      await assert.rejects(
        its.store.write((tx) => deleteSource(tx, 'free')),
        refusal('not_found'),
      );
      assert.deepEqual(
        (await listSources(its.store.db)).map(({ name }) => name),
        ['ops'],
      );
    });

    test('Of a removal and a new workspace of the source at the same moment, one is refused', async () => {
      const other = await its.database.open();
      for (let round = 0; round < 20; round += 1) {
        await insert(source(`s${round}`));
        const use = other.write(async (tx) => {
          await holdSource(tx, `s${round}`);
          await insertWorkspace(tx, workspaceRow(`w${round}`, { source: `s${round}`, path: '' }));
        });
        const ends = await Promise.allSettled([its.store.write((tx) => deleteSource(tx, `s${round}`)), use]);
        assert.equal(ends.filter(({ status }) => status === 'fulfilled').length, 1, JSON.stringify(ends));
      }
    });
  });
}
