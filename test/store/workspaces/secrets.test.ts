/** Secrets, on both databases. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createKeyring } from '../../../src/lib/seal.ts';
import { listSecrets, readSecrets, removeSecret, requireSecrets } from '../../../src/store/secrets/secrets.ts';
import { refusal } from '../../support/refusal.ts';
import { ENGINES } from '../engine-fixture.ts';
import { TOKEN, sealedStore, set, valueOf } from '../../support/fixtures/sealed-store.ts';

for (const engine of ENGINES) {
  describe(`Secrets on ${engine.name}`, () => {
    const its = sealedStore(engine);

    test('a secret is read as it was set, and the store holds neither its bytes nor their base64 or hex', async () => {
      const value = 'gr\u00fc\u00df\u{1F511}\nline two';
      const facts = await set(its.store, its.ring, value);
      assert.deepEqual(
        { ...facts, created_at: 0, updated_at: 0 },
        { ...TOKEN, version: 1, created_at: 0, updated_at: 0 },
      );
      assert.equal(await valueOf(its.store, its.ring, 'net/token'), value);
      const row = await its.store.db.selectFrom('secrets').selectAll().executeTakeFirstOrThrow();
      for (const form of ['utf8', 'base64', 'hex'] as const) {
        assert.equal(Buffer.from(row.sealed).includes(Buffer.from(value).toString(form)), false);
      }
    });

    test('a value that is set again is the next version, and the one before it is gone', async () => {
      const one = await set(its.store, its.ring, 'first');
      const sealed = (await its.store.db.selectFrom('secrets').select('sealed').executeTakeFirstOrThrow()).sealed;
      const two = await set(its.store, its.ring, 'second');
      assert.deepEqual([one.version, two.version, two.created_at], [1, 2, one.created_at]);
      assert.ok(two.updated_at >= one.updated_at);
      assert.equal((await listSecrets(its.store.db)).length, 1);
      assert.equal(await valueOf(its.store, its.ring, 'net/token'), 'second');
      // T19: also where somebody who can write the database puts the old one back.
      await its.store.write(({ db }) => db.updateTable('secrets').set({ sealed }).execute());
      await assert.rejects(
        valueOf(its.store, its.ring, 'net/token'),
        refusal('conflict', /^Integrity: the secret net\/token cannot be used: .*altered/),
      );
    });

    test('thirty concurrent writes of one secret in two processes make thirty versions; the last stays', async () => {
      const other = await its.database.open();
      const done = await Promise.all(
        Array.from({ length: 30 }, (_, n) => set(n % 2 === 0 ? its.store : other, its.ring, `value ${n}`)),
      );
      assert.deepEqual(
        done.map(({ version }) => version).toSorted((a, b) => a - b),
        Array.from({ length: 30 }, (_, n) => n + 1),
      );
      const last = done.findIndex(({ version }) => version === 30);
      assert.equal(await valueOf(its.store, its.ring, 'net/token'), `value ${last}`);
    });

    test('secrets are listed by project and name, without anything of their values', async () => {
      for (const [project, name] of [
        ['net', 'b'],
        ['app', 'z'],
        ['net', 'a'],
      ] as const)
        await set(its.store, its.ring, 'x', { project, name });
      const rows = await listSecrets(its.store.db);
      assert.deepEqual(
        rows.map(({ project, name }) => `${project}/${name}`),
        ['app/z', 'net/a', 'net/b'],
      );
      assert.deepEqual(Object.keys(rows[0] ?? {}), ['project', 'name', 'version', 'created_at', 'updated_at']);
    });

    test('a removed secret is not found, and may be set again', async () => {
      await set(its.store, its.ring, 'x');
      assert.equal((await its.store.write((tx) => removeSecret(tx, TOKEN))).version, 1);
      await assert.rejects(
        its.store.write((tx) => removeSecret(tx, TOKEN)),
        refusal('not_found', /^There is no secret net\/token\.$/),
      );
      await assert.rejects(
        readSecrets(its.store.db, its.ring, { a: 'net/token' }),
        refusal('not_found', /no secret net\/token/),
      );
      await assert.rejects(
        requireSecrets(its.store.db, { a: 'net/token' }),
        refusal('not_found', /no secret net\/token/),
      );
      assert.equal((await set(its.store, its.ring, 'y')).version, 1);
    });

    test('a run gets each of its secrets by variable, also under two names; the missing one is named', async () => {
      await set(its.store, its.ring, 'x');
      await set(its.store, its.ring, 'y', { project: 'app', name: 'key' });
      const refs = { A: 'net/token', B: 'app/key', C: 'net/token' };
      assert.deepEqual(
        await readSecrets(its.store.db, its.ring, refs),
        new Map(
          [
            ['A', 'x'],
            ['B', 'y'],
            ['C', 'x'],
          ].map(([k = '', v = '']) => [k, Buffer.from(v)]),
        ),
      );
      await requireSecrets(its.store.db, refs);
      assert.deepEqual(await readSecrets(its.store.db, its.ring, {}), new Map());
      await assert.rejects(
        readSecrets(its.store.db, its.ring, { ...refs, D: 'net/key' }),
        refusal('not_found', /^There is no secret net\/key\.$/),
      );
    });

    test('T19: a value that was moved to another secret is refused', async () => {
      await set(its.store, its.ring, 'harmless');
      await set(its.store, its.ring, 'precious', { project: 'app', name: 'key' });
      const { sealed } = await its.store.db
        .selectFrom('secrets')
        .select('sealed')
        .where('project', '=', 'app')
        .executeTakeFirstOrThrow();
      await its.store.write(({ db }) =>
        db.updateTable('secrets').set({ sealed }).where('project', '=', 'net').execute(),
      );
      await assert.rejects(valueOf(its.store, its.ring, 'net/token'), refusal('conflict', /Integrity/));
      await assert.rejects(
        valueOf(its.store, createKeyring([its.second]), 'app/key'),
        refusal('conflict', /a key that is not in the key file/),
      );
    });
  });
}
