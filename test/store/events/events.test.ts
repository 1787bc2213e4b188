/** The ledger of events on each database. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { newId } from '../../../src/lib/id.ts';
import { EVENT_OUTCOMES, type EventOutcome } from '../../../src/domain/events/event.ts';
import { Failure } from '../../../src/domain/failure.ts';
import type { JobTrigger } from '../../../src/domain/jobs/job.ts';
import { toJson } from '../../../src/lib/json.ts';
import {
  countEvents,
  findEvent,
  findEventOfJob,
  getEvent,
  insertEvent,
  listEvents,
  listFires,
  recordFire,
} from '../../../src/store/events/events.ts';
import type { EventRow } from '../../../src/store/schema/schema.ts';
import { eventRow, putEvents } from '../../support/fixtures/events.ts';
import { ENGINES, enqueue, freshStore } from '../engine-fixture.ts';

const OUTCOMES: readonly EventOutcome[] = EVENT_OUTCOMES;

for (const engine of ENGINES) {
  describe(`Events on ${engine.name}`, () => {
    const its = freshStore(engine);

    test('An event is read as it was inserted', async () => {
      const row: EventRow = {
        id: newId('evt', 1),
        source: 'drift',
        name: 'net',
        status: 'firing',
        netgroup: null,
        severity: null,
        fingerprint: 'drift:net',
        labels: toJson({ workspace: 'net' }),
        outcome: 'ignored',
        reason: 'No rule matched.',
        rule: null,
        job_id: null,
        approval_id: null,
        received_at: 1_700_000_000_000,
        annotations: toJson({}),
        check_observations: null,
        trace: toJson([]),
        depth: 0,
      };
      await its.store.write(async (tx) => insertEvent(tx, row));
      assert.deepEqual({ ...(await its.store.db.selectFrom('events').selectAll().executeTakeFirst()) }, row);
    });

    test('are read by id as they were inserted', async () => {
      const [row] = await putEvents(its.store, [
        {
          job_id: 'job_1',
          approval_id: 'apr_1',
          rule: 'clean-up',
          outcome: 'gated',
          depth: 2,
          check_observations: toJson([]),
        },
      ]);
      assert.ok(row !== undefined);
      assert.deepEqual({ ...(await getEvent(its.store.db, row.id)) }, row);
      assert.equal(await findEvent(its.store.db, 'evt_unknown'), undefined);
      await assert.rejects(
        getEvent(its.store.db, 'evt_unknown'),
        (error) => error instanceof Failure && error.code === 'not_found',
      );
    });

    test('are listed newest first, by source, by outcome, and from a cursor on', async () => {
      const rows = await putEvents(its.store, [
        {},
        { source: 'gatus' },
        { outcome: 'fired' },
        { source: 'gatus', outcome: 'fired' },
      ]);
      const places = async (filter: Parameters<typeof listEvents>[1], limit = 10): Promise<number[]> =>
        (await listEvents(its.store.db, filter, limit)).map(({ id }) => rows.findIndex((row) => row.id === id));
      assert.deepEqual(await places({}), [3, 2, 1, 0]);
      assert.deepEqual(await places({}, 2), [3, 2]);
      assert.deepEqual(await places({ source: 'gatus' }), [3, 1]);
      assert.deepEqual(await places({ outcome: 'fired' }), [3, 2]);
      assert.deepEqual(await places({ source: 'gatus', outcome: 'ignored' }), [1]);
      assert.deepEqual(await places({ before: rows[2]?.id }), [1, 0]);
    });

    test('are listed without their annotations and their trace', async () => {
      await putEvents(its.store, [{}]);
      const [row] = await listEvents(its.store.db, {}, 1);
      assert.deepEqual(
        Object.keys(row ?? {}).filter((key) => ['annotations', 'trace', 'depth'].includes(key)),
        [],
      );
    });

    test('are counted by their outcome, also where processes write side by side', async () => {
      const stores = [its.store, await its.database.open(), await its.database.open()];
      await Promise.all(
        Array.from({ length: 90 }, (_, n) =>
          putEvents(stores[n % 3] ?? its.store, [
            { outcome: OUTCOMES[n % OUTCOMES.length] ?? 'error' },
            { outcome: 'ignored' },
          ]),
        ),
      );
      assert.deepEqual(await countEvents(its.store.db), {
        ignored: 105,
        matched: 15,
        suppressed: 15,
        gated: 15,
        fired: 15,
        error: 15,
      });
    });

    test('of a failed transaction are not counted', async () => {
      await assert.rejects(
        its.store.write((tx) => {
          insertEvent(tx, eventRow());
          return Promise.reject(new Error('undone'));
        }),
        /undone/,
      );
      assert.equal((await countEvents(its.store.db)).ignored, 0);
    });

    test('give the depth of the chain of jobs for a job that one of them made', async () => {
      const [row] = await putEvents(its.store, [{ job_id: 'job_1', depth: 2 }]);
      const find = (id: string, trigger: JobTrigger): ReturnType<typeof findEventOfJob> =>
        findEventOfJob(its.store.db, { id, trigger });
      for (const trigger of ['rule', 'host'] as const)
        assert.deepEqual({ ...(await find('job_1', trigger)) }, { id: row?.id, depth: 2 });
      assert.equal(await find('job_2', 'rule'), undefined);
      assert.equal(await find('job_1', 'api'), undefined, 'an event makes no such job');
    });

    test('record when a rule last acted for a fingerprint, by status, with the state of the job', async () => {
      const jobId = await enqueue(its.store);
      const key = { rule: 'clean-up', fingerprint: 'disk-1' };
      await its.store.write((tx) => {
        recordFire(tx, { ...key, status: 'firing', firedAt: 1, jobId: null });
        recordFire(tx, { ...key, status: 'firing', firedAt: 2, jobId });
        recordFire(tx, { ...key, status: '', firedAt: 3, jobId: null });
        recordFire(tx, { ...key, fingerprint: 'disk-2', status: 'firing', firedAt: 4, jobId: null });
        return Promise.resolve();
      });
      const fires = (await listFires(its.store.db, key))
        .map((fire) => ({ ...fire }))
        .toSorted((a, b) => a.fired_at - b.fired_at);
      assert.deepEqual(fires, [
        { status: 'firing', fired_at: 2, job_id: jobId, job_state: 'queued' },
        { status: '', fired_at: 3, job_id: null, job_state: null },
      ]);
    });
  });
}
