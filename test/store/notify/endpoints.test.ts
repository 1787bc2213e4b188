/** Registered endpoints, on each database: one row for each URL of a token. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Failure } from '../../../src/domain/failure.ts';
import { newId } from '../../../src/lib/id.ts';
import {
  ENDPOINTS_PER_TOKEN,
  insertEndpoint,
  listEndpoints,
  type NewEndpoint,
  recordAttempt,
} from '../../../src/store/notify/endpoints.ts';
import type { EndpointRow } from '../../../src/store/schema/schema.ts';
import type { Store } from '../../../src/store/store.ts';
import { ENGINES, freshStore } from '../engine-fixture.ts';

const URL_OF_PHONE = 'https://push.example.com/phone';
/** Without the lock a few rounds are enough for two rows of one URL. */
const ROUNDS = 8;

function register(store: Store, some: Partial<NewEndpoint>): Promise<EndpointRow> {
  const row = {
    id: newId('ep', Date.now()),
    token_id: 'tok_a',
    owner: 'ana',
    endpoint: URL_OF_PHONE,
    label: null,
    p256dh: null,
    auth: null,
    ...some,
  };
  return store.write((tx) => insertEndpoint(tx, row));
}

for (const engine of ENGINES) {
  describe(engine.name, () => {
    const its = freshStore(engine);

    test('A URL that is registered again keeps its row, with new keys and label, without failures', async () => {
      const first = await register(its.store, { token_id: 'tok_again', label: 'phone', p256dh: 'old', auth: 'old' });
      await its.store.write((tx) => recordAttempt(tx, first.id, 'answered 500'));
      const again = await register(its.store, { token_id: 'tok_again', p256dh: 'new', auth: 'new' });
      const renewed = {
        id: first.id,
        label: 'phone',
        p256dh: 'new',
        auth: 'new',
        created_at: first.created_at,
        failures: 0,
        failure: null,
      };
      assert.partialDeepStrictEqual(again, renewed);
      const named = await register(its.store, { token_id: 'tok_again', label: 'tablet' });
      assert.partialDeepStrictEqual(named, { id: first.id, label: 'tablet', p256dh: null, auth: null });
      assert.deepEqual(await listEndpoints(its.store.db, 'tok_again'), [named]);
    });

    test('Another token has a separate row for the same URL, and a change of one leaves the other', async () => {
      const one = await register(its.store, { token_id: 'tok_one', label: 'one' });
      const two = await register(its.store, { token_id: 'tok_two', label: 'two' });
      assert.notEqual(two.id, one.id);
      await register(its.store, { token_id: 'tok_two', label: 'changed' });
      assert.deepEqual(
        (await listEndpoints(its.store.db, 'tok_one')).map((row) => ({ ...row })),
        [one],
      );
    });

    test('Twenty registrations of one URL at once, by four daemons, get the same row', async () => {
      const daemons = [its.store, await its.database.open(), await its.database.open(), await its.database.open()];
      for (let round = 0; round < ROUNDS; round += 1) {
        const token_id = `tok_race${round}`;
        const rows = await Promise.all(
          Array.from({ length: 20 }, (_, i) => register(daemons[i % daemons.length]!, { token_id })),
        );
        assert.equal(new Set(rows.map(({ id }) => id)).size, 1);
        assert.equal((await listEndpoints(its.store.db, token_id)).length, 1);
      }
    });

    test('A token at its limit may register a known endpoint again, but no new one', async () => {
      const full = { token_id: 'tok_full' };
      const rows: EndpointRow[] = [];
      for (let i = 0; i < ENDPOINTS_PER_TOKEN; i += 1)
        rows.push(await register(its.store, { ...full, endpoint: `${URL_OF_PHONE}/${i}` }));
      assert.equal((await register(its.store, { ...full, endpoint: rows[7]!.endpoint })).id, rows[7]!.id);
      await assert.rejects(
        register(its.store, { ...full, endpoint: `${URL_OF_PHONE}/more` }),
        (error: unknown) => error instanceof Failure && error.code === 'conflict',
      );
    });

    test('A URL of 12,000 bytes, such as one with escaped letters, is registered once too', async () => {
      const endpoint =
        'https://push.example.com/' +
        Array.from({ length: 2_000 }, (_, i) => `%C3%${((i % 64) + 128).toString(16).toUpperCase()}`).join('');
      const first = await register(its.store, { token_id: 'tok_long', endpoint });
      assert.equal((await register(its.store, { token_id: 'tok_long', endpoint })).id, first.id);
    });
  });
}
