import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { isCordoned, setCordon } from '../../src/store/cordon.ts';
import { expireLeases, listOrphans, listOthers, markStopped, mayClaim, renewLease } from '../../src/store/daemons.ts';
import { findAnswer, keepAnswer } from '../../src/store/idempotency.ts';
import { insertJob } from '../../src/store/jobs.ts';
import type { IdempotencyRow } from '../../src/store/schema.ts';
import type { Store } from '../../src/store/store.ts';
import { countActiveTokens, deleteSession, findSession, findToken, insertSession, insertToken, listTokens, revokeToken } from '../../src/store/tokens.ts';
import { refusal } from '../support/refusal.ts';
import { addDaemon, claim, enqueue, ENGINES, leaseClock, makeJob, makeToken, type TestDatabase, wipe } from './kit.ts';


function session(tokenId: string, id: string, expiresAt: number) {
  return { id, token_id: tokenId, csrf: 'c', created_at: 0, expires_at: expiresAt };
}

function kept(some: Partial<IdempotencyRow> = {}): IdempotencyRow {
  return { holder: 'job:ana', key: 'k', status: 202, kind: 'job.enqueued', data: '{}', created_at: 0, ...some };
}

for (const engine of ENGINES) {
  describe(`Records on ${engine.name}`, () => {
    let database: TestDatabase;
    let store: Store;
    before(async () => {
      database = await engine.create();
      store = await database.open();
    });
    after(() => database.remove());
    beforeEach(() => wipe(store));

    test('A token is read as it was inserted, bytes included', async () => {
      const token = makeToken();
      await store.write((tx) => insertToken(tx, token));
      const row = await findToken(store.db, token.id);
      assert.deepEqual(Buffer.from(row!.hash), token.hash);
      assert.deepEqual({ ...row, hash: 0, salt: 0 }, { ...token, hash: 0, salt: 0 });
      assert.equal(await findToken(store.db, 'tok_none'), undefined);
    });

    test('An active name is taken; the name of a revoked token is free again', async () => {
      await store.write((tx) => insertToken(tx, makeToken()));
      await assert.rejects(store.write((tx) => insertToken(tx, makeToken())), refusal('duplicate'));
      await store.write((tx) => revokeToken(tx, 'ci'));
      await store.write((tx) => insertToken(tx, makeToken()));
      assert.equal((await listTokens(store.db)).length, 2);
    });

    test('Of many tokens of one name that are made at once from two processes, one is made and the others are duplicates', async () => {
      const other = await database.open();
      const results = await Promise.allSettled(
        Array.from({ length: 20 }, (_, n) => (n % 2 === 0 ? store : other).write((tx) => insertToken(tx, makeToken()))),
      );
      assert.equal(results.filter((each) => each.status === 'fulfilled').length, 1);
      for (const each of results) if (each.status === 'rejected') assert.ok(refusal('duplicate')(each.reason), String(each.reason));
      assert.equal((await listTokens(store.db)).length, 1);
    });

    test('A token is revoked by id or by name, its version goes up and its sessions end', async () => {
      const [a, b] = [makeToken({ name: 'a' }), makeToken({ name: 'b' })];
      for (const token of [a, b]) {
        await store.write(async (tx) => {
          await insertToken(tx, token);
          await insertSession(tx, session(token.id, `s-${token.name}`, tx.now + 60_000));
        });
      }
      const revoked = await store.write((tx) => revokeToken(tx, a.id));
      assert.equal(revoked.version, 2);
      assert.equal(await findSession(store.db, 's-a'), undefined);
      assert.ok((await findSession(store.db, 's-b')) !== undefined);
      assert.equal((await store.write((tx) => revokeToken(tx, 'b'))).id, b.id);
      assert.equal(await findSession(store.db, 's-b'), undefined);
      await assert.rejects(store.write((tx) => revokeToken(tx, 'b')), refusal('not_found'));
    });

    test('Revoking an id never revokes a token that is named like that id', async () => {
      const target = makeToken({ name: 'target' });
      const disguised = makeToken({ name: target.id });
      for (const token of [target, disguised]) await store.write((tx) => insertToken(tx, token));
      assert.equal((await store.write((tx) => revokeToken(tx, target.id))).id, target.id);
      assert.equal((await findToken(store.db, disguised.id))?.revoked_at, null);
    });

    test('Revoked and expired tokens are not active', async () => {
      await store.write((tx) => insertToken(tx, makeToken({ name: 'a', expires_at: 1_000 })));
      await store.write((tx) => insertToken(tx, makeToken({ name: 'b' })));
      assert.equal(await countActiveTokens(store.db, 999), 2);
      assert.equal(await countActiveTokens(store.db, 1_000), 1);
      await store.write((tx) => revokeToken(tx, 'b'));
      assert.equal(await countActiveTokens(store.db, 999), 1);
    });

    test('A session ends by sign-out, and expired ones are swept by who signs in', async () => {
      const token = makeToken();
      await store.write(async (tx) => {
        await insertToken(tx, token);
        await insertSession(tx, session(token.id, 'old', tx.now - 1));
      });
      await store.write((tx) => insertSession(tx, session(token.id, 'new', tx.now + 60_000)));
      assert.equal(await findSession(store.db, 'old'), undefined);
      await store.write((tx) => deleteSession(tx, 'new'));
      assert.equal(await findSession(store.db, 'new'), undefined);
    });

    test('The cordon keeps who set it first, and is lifted for all', async () => {
      assert.equal(await isCordoned(store.db), false);
      await store.write((tx) => setCordon(tx, 'ana'));
      await store.write((tx) => setCordon(tx, 'bob'));
      assert.equal(await isCordoned(store.db), true);
      assert.equal((await store.db.selectFrom('cordon').select('cordoned_by').executeTakeFirst())?.cordoned_by, 'ana');
      await store.write((tx) => setCordon(tx, null));
      assert.equal(await isCordoned(store.db), false);
    });

    test('A kept answer belongs to its holder and its key', async () => {
      await store.write((tx) => keepAnswer(tx, kept()));
      assert.deepEqual({ ...(await findAnswer(store.db, 'job:ana', 'k')) }, kept());
      assert.equal(await findAnswer(store.db, 'job:bob', 'k'), undefined);
      assert.equal(await findAnswer(store.db, 'job:ana', 'K'), undefined);
    });

    test('F18: 200 writes with one key at once, from two processes, make one job', async () => {
      const stores = [store, await database.open()];
      const writes = Array.from({ length: 200 }, (_, n) =>
        stores[n % 2]!.write(async (tx) => {
          await insertJob(tx, makeJob());
          tx.record({ principal: 'ana', owner: 'ana', via: 'api', operation: 'command.run', target: null, detail: {} });
          await keepAnswer(tx, kept());
        }),
      );
      const results = await Promise.allSettled(writes);
      assert.equal(results.filter((each) => each.status === 'fulfilled').length, 1);
      for (const each of results) if (each.status === 'rejected') assert.equal(store.dialect.faultOf(each.reason), 'unique', String(each.reason));
      for (const table of ['jobs', 'ledger', 'idempotency'] as const) {
        assert.equal((await store.db.selectFrom(table).selectAll().execute()).length, 1, table);
      }
    });

    test('A daemon that stopped, or that nobody knows, may not claim; the others see who lives', async () => {
      await addDaemon(store, 'dmn_a');
      await addDaemon(store, 'dmn_b');
      assert.equal(await store.write((tx) => mayClaim(tx, 'dmn_a')), true);
      assert.equal(await store.write((tx) => mayClaim(tx, 'dmn_none')), false);
      assert.deepEqual((await listOthers(store.db, 'dmn_a')).map((row) => row.id), ['dmn_b']);
      await store.write((tx) => markStopped(tx, 'dmn_b'));
      assert.equal(await store.write((tx) => mayClaim(tx, 'dmn_b')), false);
      assert.deepEqual(await listOthers(store.db, 'dmn_a'), []);
    });

    test('F01: the running jobs of a daemon that stopped are orphans, with where it ran; nobody else’s are', async () => {
      await addDaemon(store, 'dmn_a');
      await addDaemon(store, 'dmn_b');
      const lost = await enqueue(store);
      await claim(store, 1, 'dmn_a');
      await enqueue(store);
      await claim(store, 1, 'dmn_b');
      assert.deepEqual(await listOrphans(store.db), []);
      await store.write((tx) => markStopped(tx, 'dmn_a'));
      const orphans = await listOrphans(store.db);
      assert.deepEqual(orphans.map(({ id, host, boot_id }) => ({ id, host, boot_id })), [{ id: lost, host: 'here', boot_id: 'boot' }]);
    });

    if (engine.hasLeases) {
      test('A lease is renewed while it lasts, and cannot be brought back once it ran out or was taken', async () => {
        const now = await leaseClock(store);
        await addDaemon(store, 'dmn_live', now + 60_000);
        await addDaemon(store, 'dmn_late', now - 1);
        await addDaemon(store, 'dmn_taken', now + 60_000);
        await store.write((tx) => markStopped(tx, 'dmn_taken'));
        assert.equal(await store.write((tx) => renewLease(tx, 'dmn_live', 90_000)), true);
        assert.equal(await store.write((tx) => renewLease(tx, 'dmn_late', 90_000)), false);
        assert.equal(await store.write((tx) => renewLease(tx, 'dmn_taken', 90_000)), false);
        assert.equal(await store.write((tx) => mayClaim(tx, 'dmn_live')), true);
        assert.equal(await store.write((tx) => mayClaim(tx, 'dmn_late')), false);
      });

      test('Expired leases end their daemons, but never the one that looks', async () => {
        const now = await leaseClock(store);
        await addDaemon(store, 'dmn_self', now - 1);
        await addDaemon(store, 'dmn_dead', now - 1);
        await addDaemon(store, 'dmn_live', now + 60_000);
        await store.write((tx) => expireLeases(tx, 'dmn_self'));
        const rows = await store.db.selectFrom('daemons').select(['id', 'stopped_at']).orderBy('id').execute();
        assert.deepEqual(rows.map(({ id, stopped_at }) => [id, stopped_at !== null]), [['dmn_dead', true], ['dmn_live', false], ['dmn_self', false]]);
      });
    }
  });
}
