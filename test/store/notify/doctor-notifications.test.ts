/** What the doctor tells of pages that were given up. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createDoctor } from '../../../src/doctor/doctor.ts';
import { install, WALL_MS } from '../../support/doctor-facts.ts';

test('the last reason is one sentence, whether it was stored with a full stop or without', async (t) => {
  const home = await install();
  t.after(() => home.remove());
  for (const [n, failure] of ['answered 500', 'answered 500.'].entries()) {
    const row = {
      page_id: `page_${n}`,
      target: 'transport:1',
      state: 'dead',
      daemon_id: 'dmn_1',
      attempts: 5,
      next_at: 0,
      failure,
      settled_at: WALL_MS + n,
    } as const;
    await home.store.write((tx) => tx.db.insertInto('deliveries').values(row).execute());
    const found = (await createDoctor(home.parts())()).find(({ name }) => name === 'notifications');
    assert.equal(found?.status, 'warn');
    assert.ok(found.detail.endsWith(`. ${n + 1} failed within a day; the last with: answered 500.`), found.detail);
  }
});
