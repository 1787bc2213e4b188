/** Backups as the action of a schedule and of a rule, on both databases. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { addSchedule, daemon, jobs, timeFrom } from '../../support/fixtures/schedules.ts';
import { ENGINES, freshStore } from '../engine-fixture.ts';

const DUE = '2026-11-21T03:00:00Z';

for (const engine of ENGINES) {
  describe(`Backups that are asked for on ${engine.name}`, () => {
    const fresh = freshStore(engine);

    test('a schedule queues one, under the name that it gives', async () => {
      const { store } = fresh;
      const action = { kind: 'backup', backup: 'nightly', timeout: '20m' } as const;
      await addSchedule(store, { action, next_at: Date.parse(DUE) });
      await daemon(store, timeFrom(DUE)).sweepOnce();
      const [job, ...others] = await jobs(store);
      assert.deepEqual(others, []);
      assert.deepEqual(
        [job?.kind, job?.state, job?.runbook, job?.trigger, job?.concurrency_key, job?.spec, job?.timeout_ms],
        ['backup', 'queued', 'backup:nightly', 'schedule', 'backup', '{"name":"nightly"}', 1_200_000],
      );
    });
  });
}
