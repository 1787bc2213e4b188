/** Which jobs and events are deleted by their age, on each database: none that a kept row names, and none younger. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { retainOnce } from '../../../src/daemon/maintenance/retention.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { newId } from '../../../src/lib/id.ts';
import { toJson } from '../../../src/lib/json.ts';
import { insertEvent } from '../../../src/store/events/events.ts';
import { listRedrivable, listRedriveExclusions } from '../../../src/store/jobs/redrive.ts';
import { GRACE_MS, listShortened } from '../../../src/store/maintenance/retention-turn.ts';
import type { JobRow, Schema } from '../../../src/store/schema/schema.ts';
import type { Store } from '../../../src/store/store.ts';
import { insertArtifact } from '../../../src/store/workspaces/artifacts.ts';
import { gate } from '../../support/fixtures/approvals.ts';
import { eventRow } from '../../support/fixtures/events.ts';
import { artifactRow, dangling } from '../../support/store/references.ts';
import { workspaceRow } from '../../support/fixtures/workspace-row.ts';
import { enqueue, ENGINES, type TestDatabase, wipe } from '../engine-fixture.ts';

const DAY_MS = 86_400_000;
const KEPT_MS = 90 * DAY_MS;
const KEEP = { jobsMs: KEPT_MS, eventsMs: KEPT_MS, notificationsMs: KEPT_MS };

// Ids sort by the newest time that this process has used: the time of a test follows that of the test before.
let now = Date.now();

for (const engine of ENGINES) {
  describe(`What is deleted by its age on ${engine.name}`, () => {
    let database: TestDatabase;
    let store: Store;
    const clock = { ...systemClock, now: () => now };
    const retain = (self = 'dmn_a', signal?: AbortSignal): ReturnType<typeof retainOnce> =>
      retainOnce({ store, clock, keep: KEEP, self: () => self }, signal);
    const idsOf = async (table: 'jobs' | 'events'): Promise<string[]> =>
      (await store.db.selectFrom(table).select('id').orderBy('id').execute()).map(({ id }) => id);

    /** An ended job with output and the event of its end, which a rule may have answered with `cause`. */
    async function ended(some: Partial<JobRow> = {}): Promise<string> {
      const id = await enqueue(store, { id: newId('job', now), createdAt: now });
      const eventId = await event();
      await store.write(async ({ db }) => {
        const row = { state: 'failed', finished_at: now, outcome_event_id: eventId, ...some } as const;
        await db.updateTable('jobs').set(row).where('id', '=', id).execute();
        const chunk = { job_id: id, last_seq: 2, at: now, raw_bytes: 1, data: Buffer.from('x') };
        const chunks = [1, 3, 5].map((first) => ({ ...chunk, first_seq: first }));
        await db.insertInto('job_chunks').values(chunks).execute();
        // As a daemon of an earlier build may leave it.
        await db
          .insertInto('job_partials')
          .values({ job_id: id, stream: 'stdout', data: Buffer.from('x') })
          .execute();
      });
      return id;
    }
    async function event(jobId: string | null = null): Promise<string> {
      const row = eventRow({ id: newId('evt', now), job_id: jobId, received_at: now });
      await store.write(async (tx) => insertEvent(tx, row));
      return row.id;
    }

    before(async () => {
      database = await engine.create();
      store = await database.open({ clock });
    });
    after(() => database.remove());
    beforeEach(async () => {
      await wipe(store);
      now += GRACE_MS;
    });

    test('are an ended job with its output, and then its events; not those that are younger', async () => {
      const old = await ended();
      const cause = await event(old);
      const alone = await event();
      now += KEPT_MS;
      const young = await ended();
      const late = await event();
      await retain();
      assert.equal((await idsOf('jobs')).length, 2, 'it is exactly as old as it may be');
      now += 1;
      const { did } = await retain();
      assert.deepEqual([did?.['jobs'], did?.['events']], [1, 3]);
      assert.deepEqual(await idsOf('jobs'), [young]);
      const left = await idsOf('events');
      assert.ok(left.includes(late) && !left.includes(cause) && !left.includes(alone));
      assert.equal((await store.db.selectFrom('job_chunks').select('job_id').execute()).length, 3);
      assert.deepEqual(
        (await listShortened(store.db)).map((row) => [row.name, row.deleted, row.shortened_at]),
        [
          ['events', 3, now],
          ['jobs', 1, now],
        ],
      );
    });

    test('is no job that waits, runs or ended a short time ago, however old it is', async () => {
      const waiting = await enqueue(store, { id: newId('job', now), createdAt: now });
      const running = await ended({ state: 'running', finished_at: null, outcome_event_id: null });
      const without = await ended({ outcome_event_id: null });
      const long = await ended({ finished_at: now + DAY_MS });
      now += KEPT_MS + DAY_MS;
      await retain();
      assert.deepEqual(await idsOf('jobs'), [waiting, running, without, long].toSorted());
    });

    test('is an interrupted job only after its redrive, and such a job is never queued again', async () => {
      const interrupted = await ended({ state: 'interrupted' });
      const first = await ended({ state: 'interrupted' });
      const again = await ended({ redrive_of: first });
      now += KEPT_MS + 1;
      await retain();
      assert.deepEqual(await idsOf('jobs'), [interrupted, first], 'the redrive is deleted first');
      const selection = { states: ['interrupted'], ids: null } as const;
      assert.deepEqual(
        (await listRedrivable(store.db, selection)).map(({ id }) => id),
        [interrupted],
      );
      assert.deepEqual(await listRedriveExclusions(store.db, selection), [
        { id: first, reason: 'was queued again; the new job is deleted by now' },
      ]);
      await retain();
      assert.deepEqual(await idsOf('jobs'), [interrupted]);
      assert.equal((await store.db.selectFrom('redriven_jobs').selectAll().execute()).length, 0);
      assert.notEqual(again, first);
    });

    test('is nothing that a kept row names', async () => {
      const [plan, apply, mover, scheduled, stated] = [
        await ended(),
        await ended(),
        await ended(),
        await ended(),
        await ended(),
      ];
      const [unused, used, user] = [await ended(), await ended(), await ended()];
      const { jobId: asked } = await gate(store, { planned: false, ttlMs: 1_000 * DAY_MS, alert: await event() });
      const unasked = await ended();
      await store.write(async (tx) => {
        await tx.db
          .insertInto('workspaces')
          .values({
            ...workspaceRow('db'),
            last_plan_job_id: plan,
            last_apply_job_id: apply,
            moved_by_job: mover,
            created_at: now,
          } as Schema['workspaces'])
          .execute();
        await tx.db
          .insertInto('states')
          .values({
            workspace: 'db',
            version: 1,
            serial: 1,
            lineage: 'x',
            resources: 0,
            job_id: stated,
            sealed: Buffer.from('x'),
            key_id: 'k',
            created_at: now,
          })
          .execute();
        await tx.db
          .insertInto('schedules')
          .values({
            name: 'nightly',
            cron: '* * * * *',
            timezone: 'UTC',
            enabled: 1,
            action: toJson({ kind: 'drift_all', timeout: null }),
            runbook: 'x',
            approval: 'none',
            owners: toJson([]),
            added_by: 'ana',
            last_job_id: scheduled,
            created_at: now,
          })
          .execute();
        for (const [id, job] of [
          ['art_1', unused],
          ['art_2', used],
        ] as const)
          await insertArtifact(tx, artifactRow(id, job));
        await tx.db.updateTable('artifacts').set({ consumed_by: user }).where('id', '=', 'art_2').execute();
        await tx.db.updateTable('jobs').set({ plan_artifact_id: 'art_2' }).where('id', 'in', [used, user]).execute();
      });
      now += KEPT_MS + 1;
      await retain();
      assert.deepEqual(await dangling(store), []);
      const kept = [plan, apply, mover, scheduled, stated, unused, used, asked];
      assert.deepEqual(await idsOf('jobs'), kept.toSorted(), 'the apply of a plan is deleted first');
      await retain();
      assert.deepEqual(await dangling(store), []);
      assert.deepEqual(await idsOf('jobs'), kept.filter((id) => id !== used).toSorted());
      assert.notEqual(unasked, used);
    });

    test('leaves only references that resolve, whatever names what, and counts what it deletes', async () => {
      const jobs: string[] = [];
      // A fixed sequence: a failure is the same each time.
      let seed = 17;
      const random = (max: number): number => (seed = (seed * 48_271) % 2_147_483_647) % max;
      for (let n = 0; n < 240; n += 1) {
        now += DAY_MS;
        const state = (['succeeded', 'failed', 'interrupted', 'cancelled'] as const)[random(4)]!;
        const job = await ended({ state });
        const parent = jobs[random(jobs.length + 1)];
        const isTaken =
          parent !== undefined &&
          (await store.db.selectFrom('jobs').select('id').where('redrive_of', '=', parent).execute()).length > 0;
        if (random(3) === 0 && parent !== undefined && !isTaken)
          await store.write(({ db }) =>
            db.updateTable('jobs').set({ redrive_of: parent }).where('id', '=', job).execute(),
          );
        if (random(3) === 0) await event(jobs[random(jobs.length + 1)] ?? null);
        jobs.push(job);
      }
      const young = await store.db
        .selectFrom('jobs')
        .select('id')
        .where('finished_at', '>=', now - KEPT_MS)
        .execute();
      const before = { jobs: (await idsOf('jobs')).length, events: (await idsOf('events')).length };
      const done = { jobs: 0, events: 0 };
      for (let passes = 0, more = true; more && passes < 50; passes += 1) {
        const { did } = await retain();
        assert.deepEqual(await dangling(store), []);
        done.jobs += did?.['jobs'] ?? 0;
        done.events += did?.['events'] ?? 0;
        more = (did?.['jobs'] ?? 0) + (did?.['events'] ?? 0) > 0;
      }
      const left = new Set(await idsOf('jobs'));
      assert.deepEqual(
        young.filter(({ id }) => !left.has(id)),
        [],
      );
      assert.deepEqual(
        [before.jobs - left.size, before.events - (await idsOf('events')).length],
        [done.jobs, done.events],
      );
      assert.ok(done.jobs > 40 && done.events > 40, JSON.stringify(done));
    });

    test('is done by one daemon at a time, and not after a stop', async () => {
      await ended();
      await ended();
      now += KEPT_MS + 1;
      await retain('dmn_a', AbortSignal.abort());
      assert.equal((await idsOf('jobs')).length, 2);
      await retain('dmn_a');
      assert.equal((await idsOf('jobs')).length, 0);
      now += 1;
      await ended();
      now += KEPT_MS + 1;
      // The turn of the other one is not over by the clock of the store.
      await store.write(async ({ db, dialect }) => {
        const until = (await dialect.clock(db, now)) + 60_000;
        await db.updateTable('retention').set({ turn_until: until }).execute();
      });
      await retain('dmn_b');
      assert.equal((await idsOf('jobs')).length, 1);
      await retain('dmn_a');
      assert.equal((await idsOf('jobs')).length, 0);
    });
  });
}

describe('After an upgrade', () => {
  test('nothing is deleted for seven days', async () => {
    const database = await ENGINES[0]!.createEmpty();
    const clock = { ...systemClock, now: () => now };
    const store = await database.open({ clock });
    try {
      const row = { id: `evt_${'0'.repeat(26)}`, received_at: 1 };
      await store.write(async (tx) => insertEvent(tx, eventRow(row)));
      const retain = () => retainOnce({ store, clock, keep: KEEP, self: () => 'dmn_a' });
      now += GRACE_MS - 1;
      assert.equal((await retain()).did?.['events'], 0);
      now += 1;
      assert.equal((await retain()).did?.['events'], 1);
    } finally {
      await database.remove();
    }
  });
});
