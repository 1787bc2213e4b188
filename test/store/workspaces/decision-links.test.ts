/** The links of decisions, on both databases. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { systemClock } from '../../../src/lib/clock.ts';
import { newId } from '../../../src/lib/id.ts';
import { findLink, insertLinks, linkHash, type LinkTokens } from '../../../src/store/approvals/decision-links.ts';
import type { Store } from '../../../src/store/store.ts';
import { ENGINES, type TestDatabase } from '../engine-fixture.ts';

const DAY_MS = 86_400_000;

for (const engine of ENGINES) {
  describe(`Decision links on ${engine.name}`, () => {
    let database: TestDatabase;
    let store: Store;
    let offsetMs = 0;
    before(async () => {
      database = await engine.create();
      store = await database.open({ clock: { ...systemClock, now: () => Date.now() + offsetMs } });
    });
    beforeEach(async () => {
      offsetMs = 0;
      await store.write((tx) => tx.db.deleteFrom('decision_links').execute());
    });
    after(() => database.remove());

    const mint = (approvalId: string, recipient: string, by: Store = store): Promise<LinkTokens> =>
      by.write((tx) => insertLinks(tx, { approvalId, recipient, target: null, madeBy: 'ops' }));
    const kept = (): Promise<{ hash: string; approval_id: string }[]> =>
      store.db.selectFrom('decision_links').select(['hash', 'approval_id']).orderBy('approval_id').execute();

    test('T57: a pair has two tokens of 256 bits, found by their hashes, and the rows hold neither', async () => {
      const approvalId = newId('apr', Date.now());
      const tokens = await mint(approvalId, 'ana');
      for (const decision of ['approve', 'reject'] as const) {
        assert.match(tokens[decision], /^[A-Za-z0-9_-]{43}$/);
        const row = (await findLink(store, linkHash(tokens[decision]))) ?? assert.fail('the link is not found');
        assert.partialDeepStrictEqual(row, { approval_id: approvalId, decision, recipient: 'ana', made_by: 'ops' });
        assert.ok(!JSON.stringify(row).includes(tokens[decision]));
        assert.equal(await findLink(store, tokens[decision]), undefined, 'what the rows hold opens nothing');
      }
      assert.notEqual(tokens.approve, tokens.reject);
    });

    test('of concurrent pairs for one person, one pair is left', async () => {
      const approvalId = newId('apr', Date.now());
      const other = await database.open();
      const made = await Promise.all(
        Array.from({ length: 20 }, (_, n) => mint(approvalId, 'ana', n % 2 === 0 ? store : other)),
      );
      const rows = await kept();
      assert.equal(rows.length, 2);
      const hashes = rows.map(({ hash }) => hash).toSorted();
      assert.ok(
        made.some(
          ({ approve, reject }) => [linkHash(approve), linkHash(reject)].toSorted().join('') === hashes.join(''),
        ),
        'the two belong together',
      );
    });

    test('links are removed after 30 days when new ones are made, the oldest first, twenty at a time', async () => {
      offsetMs = -31 * DAY_MS;
      const old = Array.from({ length: 15 }, (_, n) => newId('apr', Date.now() + offsetMs + n));
      for (const id of old) await mint(id, 'ana');
      offsetMs = -29 * DAY_MS;
      const younger = newId('apr', Date.now() + offsetMs);
      await mint(younger, 'ana');
      offsetMs = 0;
      const fresh = newId('apr', Date.now());
      await mint(fresh, 'ana');
      assert.equal((await kept()).length, 10 + 2 + 2);
      await mint(fresh, 'ana');
      assert.deepEqual(
        [...new Set((await kept()).map((row) => row.approval_id))].toSorted(),
        [younger, fresh].toSorted(),
      );
    });
  });
}
