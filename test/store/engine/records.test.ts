import assert from 'node:assert/strict';
import { isTagged } from '../../../src/store/engine/tags/tags.ts';
import { TEST_RING } from '../../support/seal.ts';
import { describe, test } from 'node:test';
import { isCordoned, setCordon } from '../../../src/store/maintenance/cordon.ts';
import {
  insertDaemon,
  listIngresses,
  listOrphans,
  listOthers,
  markStopped,
} from '../../../src/store/maintenance/daemons.ts';
import { expireLeases, mayClaim, renewLease } from '../../../src/store/maintenance/leases.ts';
import { findAnswer, keepAnswer } from '../../../src/store/access/idempotency.ts';
import { insertJob } from '../../../src/store/jobs/jobs.ts';
import type { IdempotencyRow } from '../../../src/store/schema/schema.ts';
import {
  countActiveTokens,
  deleteSession,
  findSession,
  findToken,
  insertSession,
  insertToken,
  listTokens,
  revokeToken,
} from '../../../src/store/access/tokens.ts';
import { refusal } from '../../support/refusal.ts';
import { addDaemon, claim, ENGINES, enqueue, freshStore, leaseClock, makeJob, makeToken } from '../engine-fixture.ts';

function session(tokenId: string, id: string, expiresAt: number) {
  return { id, token_id: tokenId, csrf: 'c', created_at: 0, expires_at: expiresAt };
}

function kept(some: Partial<IdempotencyRow> = {}): IdempotencyRow {
  return { holder: 'job:ana', key: 'k', status: 202, kind: 'job.enqueued', data: '{}', created_at: 0, ...some };
}

for (const engine of ENGINES) {
  describe(`Records on ${engine.name}`, () => {
    const its = freshStore(engine);

    test('A token is read as it was inserted, bytes included', async () => {
      const token = makeToken();
      await its.store.write((tx) => insertToken(tx, token));
      const row = await findToken(its.store.db, token.id);
      assert.deepEqual(Buffer.from(row!.hash), token.hash);
      const { order_tag, order_key_id } = row!;
      assert.deepEqual({ ...row, hash: 0, salt: 0 }, { ...token, hash: 0, salt: 0, order_tag, order_key_id });
      assert.ok(isTagged(TEST_RING, 'tokens', row!));
      assert.equal(await findToken(its.store.db, 'tok_none'), undefined);
    });

    test('An active name is taken; the name of a revoked token is free again', async () => {
      await its.store.write((tx) => insertToken(tx, makeToken()));
      await assert.rejects(
        its.store.write((tx) => insertToken(tx, makeToken())),
        refusal('duplicate'),
      );
      await its.store.write((tx) => revokeToken(tx, 'ci'));
      await its.store.write((tx) => insertToken(tx, makeToken()));
      assert.equal((await listTokens(its.store.db)).length, 2);
    });

    test('Of many tokens of one name from two processes at once one is made, the others are duplicates', async () => {
      const other = await its.database.open();
      const results = await Promise.allSettled(
        Array.from({ length: 20 }, (_, n) =>
          (n % 2 === 0 ? its.store : other).write((tx) => insertToken(tx, makeToken())),
        ),
      );
      assert.equal(results.filter((each) => each.status === 'fulfilled').length, 1);
      for (const each of results)
        if (each.status === 'rejected') assert.ok(refusal('duplicate')(each.reason), String(each.reason));
      assert.equal((await listTokens(its.store.db)).length, 1);
    });

    test('A token is revoked by id or by name, its version increases and its sessions end', async () => {
      const [a, b] = [makeToken({ name: 'a' }), makeToken({ name: 'b' })];
      for (const token of [a, b]) {
        await its.store.write(async (tx) => {
          await insertToken(tx, token);
          await insertSession(tx, session(token.id, `s-${token.name}`, tx.now + 60_000));
        });
      }
      const revoked = await its.store.write((tx) => revokeToken(tx, a.id));
      assert.equal(revoked.version, 2);
      assert.equal(await findSession(its.store, 's-a'), undefined);
      assert.ok((await findSession(its.store, 's-b')) !== undefined);
      assert.equal((await its.store.write((tx) => revokeToken(tx, 'b'))).id, b.id);
      assert.equal(await findSession(its.store, 's-b'), undefined);
      await assert.rejects(
        its.store.write((tx) => revokeToken(tx, 'b')),
        refusal('not_found'),
      );
    });

    test('Revoking an id never revokes a token that is named like that id', async () => {
      const target = makeToken({ name: 'target' });
      const disguised = makeToken({ name: target.id });
      for (const token of [target, disguised]) await its.store.write((tx) => insertToken(tx, token));
      assert.equal((await its.store.write((tx) => revokeToken(tx, target.id))).id, target.id);
      assert.equal((await findToken(its.store.db, disguised.id))?.revoked_at, null);
    });

    test('Revoked and expired tokens are not active', async () => {
      await its.store.write((tx) => insertToken(tx, makeToken({ name: 'a', expires_at: 1_000 })));
      await its.store.write((tx) => insertToken(tx, makeToken({ name: 'b' })));
      assert.equal(await countActiveTokens(its.store.db, 999), 2);
      assert.equal(await countActiveTokens(its.store.db, 1_000), 1);
      await its.store.write((tx) => revokeToken(tx, 'b'));
      assert.equal(await countActiveTokens(its.store.db, 999), 1);
    });

    test('A session ends by sign-out, and expired ones are swept by who signs in', async () => {
      const token = makeToken();
      await its.store.write(async (tx) => {
        await insertToken(tx, token);
        await insertSession(tx, session(token.id, 'old', tx.now - 1));
      });
      await its.store.write((tx) => insertSession(tx, session(token.id, 'new', tx.now + 60_000)));
      assert.equal(await findSession(its.store, 'old'), undefined);
      await its.store.write((tx) => deleteSession(tx, 'new'));
      assert.equal(await findSession(its.store, 'new'), undefined);
    });

    test('The cordon keeps who set it first, and is lifted for all', async () => {
      assert.equal(await isCordoned(its.store.db), false);
      await its.store.write((tx) => setCordon(tx, 'ana'));
      await its.store.write((tx) => setCordon(tx, 'bob'));
      assert.equal(await isCordoned(its.store.db), true);
      assert.equal(
        (await its.store.db.selectFrom('cordon').select('cordoned_by').executeTakeFirst())?.cordoned_by,
        'ana',
      );
      await its.store.write((tx) => setCordon(tx, null));
      assert.equal(await isCordoned(its.store.db), false);
    });

    test('A kept answer belongs to its holder and its key', async () => {
      await its.store.write((tx) => keepAnswer(tx, kept()));
      assert.deepEqual({ ...(await findAnswer(its.store.db, 'job:ana', 'k')) }, kept());
      assert.equal(await findAnswer(its.store.db, 'job:bob', 'k'), undefined);
      assert.equal(await findAnswer(its.store.db, 'job:ana', 'K'), undefined);
    });

    test('F18: 200 writes with one key at once, from two processes, make one job', async () => {
      const stores = [its.store, await its.database.open()];
      const writes = Array.from({ length: 200 }, (_, n) =>
        stores[n % 2]!.write(async (tx) => {
          await insertJob(tx, makeJob());
          tx.record({ principal: 'ana', owner: 'ana', via: 'api', operation: 'command.run', target: null, detail: {} });
          await keepAnswer(tx, kept());
        }),
      );
      const results = await Promise.allSettled(writes);
      assert.equal(results.filter((each) => each.status === 'fulfilled').length, 1);
      for (const each of results)
        if (each.status === 'rejected')
          assert.equal(its.store.dialect.faultOf(each.reason), 'unique', String(each.reason));
      for (const table of ['jobs', 'ledger', 'idempotency'] as const) {
        assert.equal((await its.store.db.selectFrom(table).selectAll().execute()).length, 1, table);
      }
    });

    test('A stopped or unknown daemon may not claim; the others see which daemons are alive', async () => {
      await addDaemon(its.store, 'dmn_a');
      await addDaemon(its.store, 'dmn_b');
      assert.equal(await its.store.write((tx) => mayClaim(tx, 'dmn_a')), true);
      assert.equal(await its.store.write((tx) => mayClaim(tx, 'dmn_none')), false);
      assert.deepEqual(
        (await listOthers(its.store.db, 'dmn_a')).map((row) => row.id),
        ['dmn_b'],
      );
      await its.store.write((tx) => markStopped(tx, 'dmn_b'));
      assert.equal(await its.store.write((tx) => mayClaim(tx, 'dmn_b')), false);
      assert.deepEqual(await listOthers(its.store.db, 'dmn_a'), []);
    });

    test('Ingress listeners are those of living daemons, newest first; with leases, of this machine only', async () => {
      const row = { host: 'here', boot_id: 'boot', version: '0', started_at: 1, lease_until: null, stopped_at: null };
      const rows = [
        { ...row, id: 'dmn_a', pid: 1, ingress_url: 'http://127.0.0.1:1' },
        { ...row, id: 'dmn_b', pid: 2, ingress_url: 'http://127.0.0.1:2', started_at: 2 },
        { ...row, id: 'dmn_c', pid: 3, ingress_url: 'http://127.0.0.1:3', started_at: 3, stopped_at: 4 },
        { ...row, id: 'dmn_d', pid: 4, ingress_url: 'http://127.0.0.1:4', started_at: 5, host: 'there' },
        { ...row, id: 'dmn_e', pid: 5, ingress_url: 'http://127.0.0.1:5', started_at: 6, boot_id: 'before' },
        { ...row, id: 'dmn_f', pid: 6, started_at: 7 },
      ];
      for (const each of rows) await its.store.write((tx) => insertDaemon(tx, each));
      // Where a lock tells it, a machine that got another name since is still the one where that daemon lives.
      const elsewhere = engine.hasLeases ? [] : ['dmn_e', 'dmn_d'];
      assert.deepEqual(
        (await listIngresses(its.store, row)).map(({ id }) => id),
        [...elsewhere, 'dmn_b', 'dmn_a'],
      );
      assert.equal((await listIngresses(its.store, row)).at(-1)?.url, 'http://127.0.0.1:1');
      const forged = { ingress_url: 'https://elsewhere.test' };
      await its.store.write((tx) =>
        tx.db.updateTable('daemons').set(forged).where('id', 'in', ['dmn_b', 'dmn_d', 'dmn_e']).execute(),
      );
      assert.deepEqual(await listIngresses(its.store, row), [
        { id: 'dmn_a', pid: 1, started_at: 1, url: 'http://127.0.0.1:1' },
      ]);
    });

    test('F01: only the running jobs of a stopped daemon are orphans, with the machine that it ran on', async () => {
      await addDaemon(its.store, 'dmn_a');
      await addDaemon(its.store, 'dmn_b');
      const lost = await enqueue(its.store);
      await claim(its.store, 1, 'dmn_a');
      await enqueue(its.store);
      await claim(its.store, 1, 'dmn_b');
      assert.deepEqual(await listOrphans(its.store.db), []);
      await its.store.write((tx) => markStopped(tx, 'dmn_a'));
      const orphans = await listOrphans(its.store.db);
      assert.deepEqual(
        orphans.map(({ id, host, boot_id }) => ({ id, host, boot_id })),
        [{ id: lost, host: 'here', boot_id: 'boot' }],
      );
    });

    if (engine.hasLeases) {
      test('A lease is renewed while it lasts, and cannot be brought back once it ran out or was taken', async () => {
        const now = await leaseClock(its.store);
        await addDaemon(its.store, 'dmn_live', now + 60_000);
        await addDaemon(its.store, 'dmn_late', now - 1);
        await addDaemon(its.store, 'dmn_taken', now + 60_000);
        await its.store.write((tx) => markStopped(tx, 'dmn_taken'));
        assert.equal(await its.store.write((tx) => renewLease(tx, 'dmn_live', 90_000)), true);
        assert.equal(await its.store.write((tx) => renewLease(tx, 'dmn_late', 90_000)), false);
        assert.equal(await its.store.write((tx) => renewLease(tx, 'dmn_taken', 90_000)), false);
        assert.equal(await its.store.write((tx) => mayClaim(tx, 'dmn_live')), true);
        assert.equal(await its.store.write((tx) => mayClaim(tx, 'dmn_late')), false);
      });

      test('A daemon whose lease ran out has no ingress listener any more', async () => {
        const now = await leaseClock(its.store);
        const row = { host: 'here', boot_id: 'boot', pid: 1, version: '0', started_at: 1, stopped_at: null };
        await its.store.write((tx) =>
          insertDaemon(tx, { ...row, id: 'dmn_late', ingress_url: 'http://127.0.0.1:1', lease_until: now - 1 }),
        );
        await its.store.write((tx) =>
          insertDaemon(tx, {
            ...row,
            id: 'dmn_live',
            pid: 2,
            ingress_url: 'http://127.0.0.1:2',
            lease_until: now + 60_000,
          }),
        );
        assert.deepEqual(await listIngresses(its.store, row), [
          { id: 'dmn_live', pid: 2, started_at: 1, url: 'http://127.0.0.1:2' },
        ]);
      });

      test('Expired leases end their daemons, but never the one that looks', async () => {
        const now = await leaseClock(its.store);
        await addDaemon(its.store, 'dmn_self', now - 1);
        await addDaemon(its.store, 'dmn_dead', now - 1);
        await addDaemon(its.store, 'dmn_live', now + 60_000);
        await its.store.write((tx) => expireLeases(tx, 'dmn_self'));
        const rows = await its.store.db.selectFrom('daemons').select(['id', 'stopped_at']).orderBy('id').execute();
        assert.deepEqual(
          rows.map(({ id, stopped_at }) => [id, stopped_at !== null]),
          [
            ['dmn_dead', true],
            ['dmn_live', false],
            ['dmn_self', false],
          ],
        );
      });
    }
  });
}
