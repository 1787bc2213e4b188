/** How rows are written on each database. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { toJson } from '../../../src/lib/json.ts';
import { insertRow, rowBy } from '../../../src/store/engine/rows.ts';
import type { EventRow } from '../../../src/store/schema/schema.ts';
import { ENGINES, freshStore } from '../engine-fixture.ts';

const findEvent = rowBy('events', 'id');

function event(id: string, some: Partial<EventRow>): EventRow {
  return {
    id,
    source: 'generic',
    name: null,
    status: null,
    netgroup: null,
    severity: null,
    fingerprint: null,
    labels: toJson({}),
    outcome: 'error',
    reason: 'r',
    rule: null,
    job_id: null,
    approval_id: null,
    received_at: 1,
    annotations: toJson({ a: 'b' }),
    check_observations: null,
    trace: toJson([[1, 0]]),
    depth: 2,
    ...some,
  };
}

for (const engine of ENGINES) {
  describe(`Rows on ${engine.name}`, () => {
    const fresh = freshStore(engine);

    test('no column that may be null has a default, so that null can be left out of an insert', async () => {
      const tables = await fresh.store.db.introspection.getTables();
      assert.ok(tables.length > 40, `${tables.length} tables`);
      const both = tables.flatMap(({ name, columns }) =>
        columns
          .filter((column) => column.isNullable && column.hasDefaultValue)
          .map((column) => `${name}.${column.name}`),
      );
      assert.deepEqual(both, []);
      const defaults = tables.flatMap(({ columns }) => columns.filter((column) => column.hasDefaultValue));
      assert.ok(defaults.length > 10, 'defaults are seen');
    });

    test('are read as they were written, whichever of their columns are null, and of many forms too', async () => {
      const names = ['name', 'status', 'netgroup', 'severity', 'fingerprint'] as const;
      const rows = Array.from({ length: 32 }, (_, i) =>
        event(
          `evt_${String(i).padStart(26, '0')}`,
          Object.fromEntries(
            names.filter((_name, bit) => (i & (1 << bit)) !== 0).map((name) => [name, `${name} ${i}`]),
          ),
        ),
      );
      for (const row of rows) {
        await fresh.store.write(async (tx) => void (await insertRow(tx.db, 'events', row)));
        assert.deepEqual({ ...(await findEvent(fresh.store.db, row.id)) }, row);
      }
    });

    test('that are there already are skipped', async () => {
      const row = event(`evt_${'9'.repeat(26)}`, {});
      const insert = (or?: 'skip') => fresh.store.write((tx) => insertRow(tx.db, 'events', row, or));
      assert.deepEqual([await insert('skip'), await insert('skip')], [true, false]);
      await assert.rejects(insert());
    });
  });
}
