import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  CHECK_KINDS,
  type CheckOptions,
  HTTP_METHODS,
  METRIC_OPS,
  type MetricOp,
  PROBE_DETAILS,
  TARGET_STATUSES,
} from '../../../src/domain/checks/check.ts';
import { toJson } from '../../../src/lib/json.ts';
import { insertRow } from '../../../src/store/engine/rows.ts';
import type { CheckTargetRow } from '../../../src/store/schema/schema.ts';
import { ENGINES, freshStore } from '../engine-fixture.ts';

const AT_LEAST: MetricOp = METRIC_OPS[3];

const OPTIONS: CheckOptions = {
  tcp: {},
  tls: { minDays: 14 },
  ping: {},
  http: { expect: 0, method: HTTP_METHODS[0], expectBody: null },
  dns: { expectAddr: null },
  metric: { op: AT_LEAST, value: 1, pointer: null },
};

const target = (name: string, position: number): CheckTargetRow => ({
  check_name: 'web',
  name,
  position,
  spec: '10.0.0.1:80',
  credentials: Buffer.from('sealed'),
  key_id: 'key',
  status: TARGET_STATUSES[position % TARGET_STATUSES.length] ?? 'unknown',
  was_up: 1,
  duration_ms: 12,
  detail: PROBE_DETAILS[position] ?? null,
  certificate_days: -1,
  last_change: Date.UTC(2026, 0, 1),
  pending: toJson({ disagreeing: [], withheld: null }),
  snoozed_until: null,
});

for (const engine of ENGINES) {
  describe(`The tables of checks on ${engine.name}`, () => {
    const its = freshStore(engine);

    test('A check of every kind is read as it was written', async () => {
      const rows = CHECK_KINDS.map((kind) => ({
        name: `${kind}-1`,
        kind,
        interval_ms: 30_000,
        enabled: 1 as const,
        options: toJson(OPTIONS[kind]),
        created_at: 1,
        updated_at: 2,
        revision: 3,
      }));
      await its.store.write(async ({ db }) => {
        for (const row of rows) await insertRow(db, 'checks', row);
      });
      const read = await its.store.db.selectFrom('checks').selectAll().orderBy('name').execute();
      assert.deepEqual(
        read.map((row) => ({ ...row })),
        rows.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
      );
    });

    test('A target with every status and detail is read as it was written, and one name is there once', async () => {
      const rows = PROBE_DETAILS.map((detail, at) => target(detail.replaceAll('_', '-'), at));
      await its.store.write(async ({ db }) => {
        for (const row of rows) await insertRow(db, 'check_targets', row);
      });
      const read = await its.store.db.selectFrom('check_targets').selectAll().orderBy('position').execute();
      assert.deepEqual(
        read.map((row) => ({ ...row, credentials: Buffer.from(row.credentials ?? []) })),
        rows,
      );
      const again = its.store.write(({ db }) => insertRow(db, 'check_targets', target('ok', 99)));
      await assert.rejects(again, (error) => its.store.dialect.faultOf(error) === 'unique');
    });
  });
}
