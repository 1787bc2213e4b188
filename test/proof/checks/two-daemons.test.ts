/** Two real daemons that divide the targets of checks. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SHARDS } from '../../../src/domain/checks/sweep/slots.ts';
import { until } from '../../support/api-client.ts';
import { putCheck } from '../../support/checks/sweep-fixture.ts';
import { openFixture } from '../../support/fixtures/installation.ts';

const MOVED_WITHIN_MS = 20_000;

test('On PostgreSQL two daemons divide the targets, and a death moves its share within 20 s', async (t) => {
  const fixture = await openFixture(t, { postgres: true });
  const { db } = fixture.store;
  const holders = async (): Promise<number[]> => {
    const rows = await db.selectFrom('check_shards').select('daemon_id').where('daemon_id', 'is not', null).execute();
    return [...Map.groupBy(rows, (row) => row.daemon_id).values()].map((shards) => shards.length);
  };
  const has = (what: string, shares: readonly number[]): Promise<true> =>
    until(what, async () => (String(await holders()) === String(shares) ? true : undefined), MOVED_WITHIN_MS);
  // A probe refuses the addresses of this machine, so that nothing is dialled.
  await putCheck(fixture.store, 'web', ['a', 'b', 'c', 'd', 'e', 'f'], { interval_ms: 1_000 });
  await db.updateTable('check_targets').set({ spec: '127.0.0.1:9' }).execute();
  const one = await fixture.start();
  await has('the first daemon has all', [SHARDS]);
  const two = await fixture.start();
  await has('both have half of them', [SHARDS / 2, SHARDS / 2]);
  await one.kill();
  const killedAt = performance.now();
  await has('the other has all', [SHARDS]);
  assert.ok(performance.now() - killedAt < MOVED_WITHIN_MS);
  const seeded = async (): Promise<true | undefined> => {
    const rows = await db.selectFrom('check_targets').select(['status', 'detail']).execute();
    return rows.every(({ status, detail }) => status === 'down' && detail === 'forbidden_address') ? true : undefined;
  };
  await until('all targets were probed', seeded, MOVED_WITHIN_MS);
  await two.stop();
  assert.deepEqual(await holders(), []);
});
