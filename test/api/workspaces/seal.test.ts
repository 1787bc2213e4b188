/** The seal as the local command line asks for it: what no server does. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { randomBytes } from '../../../src/lib/random.ts';
import { createKeyring } from '../../../src/lib/seal.ts';
import { readSecrets, setSecret } from '../../../src/store/secrets/secrets.ts';
import { CANARY, refusal, secretCommands, type Status } from '../../support/fixtures/secret-commands.ts';

const commands = secretCommands();
const { call, status, ledger } = commands;

describe('the seal', () => {
  test('its status shows the key, its age, the number of sealed values, and whether all use that key', async () => {
    const before = await call<Status>('seal.init');
    assert.deepEqual(Object.keys(before), ['key_id', 'algorithm', 'created_at', 'sealed_items', 'state']);
    assert.deepEqual(
      { ...before, key_id: '', created_at: '' },
      { key_id: '', algorithm: 'aes-256-gcm', created_at: '', sealed_items: 0, state: 'ok' },
    );
    await call('secret.set', { secret: 'net/token', value: CANARY });
    assert.deepEqual(await status(), { ...before, sealed_items: 1 });
    const ring = await commands.program.services.seal.rotate();
    assert.deepEqual(
      { ...(await status()), created_at: '' },
      { ...before, key_id: ring.activeId, created_at: '', sealed_items: 1, state: 'rotating' },
    );
    const stranger = createKeyring([{ key: randomBytes(32), createdAt: null }]);
    const sealKeeper = {
      keyring: () => Promise.resolve(stranger),
      find: () => Promise.resolve(stranger),
      rotate: () => Promise.resolve(stranger),
      text: () => Promise.resolve(''),
    };
    assert.equal((await status({ ...commands.program.services, seal: sealKeeper })).state, 'foreign');
    const missing = {
      ...sealKeeper,
      keyring: () => assert.fail('looking makes no key'),
      find: () => Promise.resolve(null),
    };
    assert.deepEqual(await status({ ...commands.program.services, seal: missing }), {
      ...before,
      key_id: null,
      created_at: null,
      sealed_items: 1,
      state: 'missing',
    });
  });

  test('a rotation adds a key and seals everything again, and the values stay the same', async () => {
    await call('secret.set', { secret: 'net/token', value: CANARY });
    const before = await status();
    const rotated = await call<Status>('seal.rotate');
    assert.notEqual(rotated.key_id, before.key_id);
    assert.deepEqual([rotated.state, rotated.sealed_items], ['ok', 1]);
    assert.equal(
      String(
        (
          await readSecrets(commands.program.store.db, await commands.program.services.keyring(), { x: 'net/token' })
        ).get('x'),
      ),
      CANARY,
    );
    assert.deepEqual(await ledger('seal.rotate'), [
      { target: rotated.key_id, detail: { added: true }, principal: 'local:ana' },
      { target: rotated.key_id, detail: { added: true, items: 1 }, principal: 'local:ana' },
    ]);
    assert.equal(
      (await commands.program.store.db.selectFrom('seal').selectAll().executeTakeFirstOrThrow()).key_id,
      rotated.key_id,
    );
  });

  test('a rotation that was cut short is finished without another key; the next one adds one', async () => {
    await call('secret.set', { secret: 'net/token', value: CANARY });
    const ring = await commands.program.services.seal.rotate();
    assert.equal((await status()).state, 'rotating');
    const finished = await call<Status>('seal.rotate');
    assert.deepEqual([finished.key_id, finished.state], [ring.activeId, 'ok']);
    assert.notEqual((await call<Status>('seal.rotate')).key_id, ring.activeId);
  });

  test('T19: a rotation names altered values and reseals the others', async () => {
    for (const name of ['a', 'b', 'c']) await call('secret.set', { secret: `net/${name}`, value: CANARY });
    await commands.program.store.write(({ db }) =>
      db
        .updateTable('secrets')
        .set({ sealed: randomBytes(90) })
        .where('name', '=', 'b')
        .execute(),
    );
    await assert.rejects(
      call('seal.rotate'),
      refusal(
        'conflict',
        /^Key [0-9a-f]{16} seals from now on, but these were altered and stay as they are: secret net\/b\.$/,
      ),
    );
    const ring = await commands.program.services.keyring();
    assert.equal(String((await readSecrets(commands.program.store.db, ring, { x: 'net/c' })).get('x')), CANARY);
    const ids = await commands.program.store.db
      .selectFrom('secrets')
      .select(['name', 'key_id'])
      .orderBy('name')
      .execute();
    assert.deepEqual(
      ids.map((row) => row.key_id === ring.activeId),
      [true, false, true],
    );
  });

  test('a store whose noted key is lost takes a new one by seal init, unless something needs the old one', async () => {
    const lost = createKeyring([{ key: randomBytes(32), createdAt: null }]);
    const sealKeeper = {
      keyring: () => Promise.resolve(lost),
      find: () => Promise.resolve(lost),
      rotate: () => Promise.resolve(lost),
      text: () => Promise.resolve(''),
    };
    await call('seal.init');
    // The tokens of this program are active: their hashes need the key that was noted.
    await assert.rejects(
      call('seal.init', {}, { ...commands.program.services, seal: sealKeeper }),
      refusal('invalid_argument', /sealed with another key/),
    );
    const revoked = await commands.program.store.db.selectFrom('tokens').select(['id', 'revoked_at']).execute();
    await commands.program.store.write(({ db }) => db.updateTable('tokens').set({ revoked_at: 1 }).execute());
    try {
      assert.equal(
        (await call<Status>('seal.init', {}, { ...commands.program.services, seal: sealKeeper })).key_id,
        lost.activeId,
      );
      await commands.program.store.write((tx) =>
        setSecret(tx, lost, { project: 'net', name: 'token' }, Buffer.from(CANARY)),
      );
      await assert.rejects(call('seal.init'), refusal('invalid_argument', /sealed with another key/));
    } finally {
      await commands.program.store.write(({ db }) =>
        db
          .updateTable('tokens')
          .set({ revoked_at: null })
          .where(
            'id',
            'in',
            revoked.map(({ id }) => id),
          )
          .execute(),
      );
    }
  });
});
