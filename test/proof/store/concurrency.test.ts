import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { JOB_MOVES, type JobState } from '../../../src/domain/jobs/job.ts';
import { pause, systemClock } from '../../../src/lib/clock.ts';
import { TEST_RING } from '../../support/seal.ts';
import { appendOutput, appendState } from '../../../src/store/jobs/chunks.ts';
import { cancelWaiting, claimJobs, fenceOf, finishJob, queueApproved } from '../../../src/store/jobs/claims.ts';
import { insertJob } from '../../../src/store/jobs/jobs.ts';
import { verifyLedger } from '../../../src/store/audit/verify.ts';
import type { JobRow } from '../../../src/store/schema/schema.ts';
import type { Store } from '../../../src/store/store.ts';
import { claim, entry, ENGINES, makeJob, type TestDatabase, wipe } from '../../store/engine-fixture.ts';

/** Interleavings differ from run to run; what each process does follows from its seed. */
const PROCESSES = 4;
const STEPS = 30;
const KEYS = ['k0', 'k1', 'k2'];

/** A small generator (mulberry32), so that a failing run can be looked at again. */
function chance(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
}

interface Actor {
  readonly store: Store;
  readonly pick: (below: number) => number;
  readonly daemonId: string;
  readonly mine: JobRow[];
  readonly made: string[];
}

const isFinal = (state: JobState): boolean => JOB_MOVES[state].length === 0;

/** Several jobs by one write, their keys in any order: on PostgreSQL two such writes can want each other's keys. */
async function insertSome({ store, pick, made }: Actor): Promise<void> {
  const jobs = Array.from({ length: 1 + pick(3) }, () =>
    makeJob({ concurrencyKey: KEYS[pick(KEYS.length)]!, state: pick(6) === 0 ? 'awaiting_approval' : 'queued' }),
  );
  await store.write(async (tx) => {
    for (const job of jobs) {
      await insertJob(tx, job);
      tx.record(entry(job.id));
    }
  });
  made.push(...jobs.map((job) => job.id));
}

async function claimSome({ store, pick, daemonId, mine }: Actor): Promise<void> {
  mine.push(...(await store.write((tx) => claimJobs(tx, daemonId, 1 + pick(3)))));
}

async function finishOne({ store, mine }: Actor): Promise<void> {
  const row = mine.shift();
  if (row === undefined) return;
  const ended = await store.write((tx) => finishJob(tx, fenceOf(row), { state: 'succeeded', exitCode: 0 }));
  assert.ok(ended, 'a run lost its job, though no other daemon took it');
}

async function settleOne({ store, pick, made }: Actor): Promise<void> {
  const id = made[pick(Math.max(1, made.length))];
  if (id === undefined) return;
  await store.write(async (tx) => {
    if (await queueApproved(tx, id)) return;
    if (pick(2) === 0) await cancelWaiting(tx, id, 'queued');
  });
}

/** The rule of the keys, over all committed rows of one look: at most one of a key is running or claimable. */
async function assertOneAhead(store: Store): Promise<void> {
  const rows = await store.db.selectFrom('jobs').select(['id', 'concurrency_key', 'state', 'blocked']).execute();
  for (const key of KEYS) {
    const ahead = rows.filter(
      (row) =>
        row.concurrency_key === key && (row.state === 'running' || (row.state === 'queued' && row.blocked === 0)),
    );
    assert.ok(ahead.length <= 1, `${key}: ${JSON.stringify(ahead)}`);
  }
}

async function act(actor: Actor): Promise<void> {
  for (let step = 0; step < STEPS; step += 1) {
    const doing = Array.from({ length: 1 + actor.pick(3) }, () =>
      [insertSome, claimSome, finishOne, settleOne][actor.pick(4)]!(actor),
    );
    await Promise.all(doing);
    await assertOneAhead(actor.store);
  }
  while (actor.mine.length > 0) await finishOne(actor);
}

/** Claims until nothing is queued. Another process may hold what is left for a moment: then this asks again. */
async function drain(store: Store, daemonId: string): Promise<string[]> {
  const got: string[] = [];
  for (;;) {
    const rows = await claim(store, 3, daemonId);
    assert.ok(rows.length <= 3);
    if (
      rows.length === 0 &&
      (await store.db.selectFrom('jobs').select('id').where('state', '=', 'queued').execute()).length === 0
    )
      return got;
    got.push(...rows.map((row) => row.id));
  }
}

for (const engine of ENGINES) {
  describe(`Several processes on one ${engine.name}`, () => {
    let database: TestDatabase;
    const stores: Store[] = [];
    before(async () => {
      database = await engine.create();
      for (let n = 0; n < PROCESSES; n += 1) stores.push(await database.open());
    });
    after(() => database.remove());
    beforeEach(() => wipe(stores[0]!));

    for (const seed of [1, 2, 3]) {
      test(`F18: jobs of a few keys never run beside each other and none stays blocked (seed ${seed})`, async () => {
        const actors = stores.map((store, n): Actor => ({
          store,
          pick: chance(seed * 100 + n),
          daemonId: `dmn_${n}`,
          mine: [],
          made: [],
        }));
        await Promise.all(actors.map(act));
        const [first] = actors;
        for (const actor of actors) for (const id of actor.made) await actor.store.write((tx) => queueApproved(tx, id));
        for (;;) {
          await claimSome(first!);
          if (first!.mine.length === 0) break;
          while (first!.mine.length > 0) await finishOne(first!);
        }
        const left = (await stores[0]!.db.selectFrom('jobs').select(['id', 'state']).execute()).filter(
          (row) => !isFinal(row.state),
        );
        assert.deepEqual(left, []);
        const { faults, rows } = await verifyLedger(stores[0]!.db, TEST_RING);
        assert.deepEqual(faults, []);
        assert.equal(
          rows,
          actors.reduce((sum, actor) => sum + actor.made.length, 0),
        );
      });
    }

    test('F03: output and the end of its job, written by two processes at once, come one after the other', async () => {
      const [late, rescuer] = stores as [Store, Store];
      await late.write((tx) => insertJob(tx, makeJob()));
      const [row] = await claim(late, 1);
      const fence = fenceOf(row!);
      const looked = Promise.withResolvers<void>();
      const ended = looked.promise.then(() =>
        rescuer.write(async (tx) => {
          assert.equal(await finishJob(tx, fence, { state: 'interrupted', exitCode: null }), true);
          return appendState(tx, fence.jobId, 'interrupted', null);
        }),
      );
      const kept = await late.write(async (tx) => {
        const owned = await appendOutput(tx, fence, {
          first_seq: 2,
          last_seq: 3,
          raw_bytes: 1,
          data: Buffer.from('x'),
        });
        looked.resolve();
        // Time enough for the end to slip in between, if it could.
        await Promise.race([ended, pause(systemClock, 150)]);
        return owned;
      });
      assert.equal(kept, true);
      assert.equal(await ended, 4, 'the end did not see the output before it');
    });

    test('F04: claims at once never get one job twice, and together get all', async () => {
      const jobs = Array.from({ length: 200 }, () => makeJob());
      await stores[0]!.write(async (tx) => {
        for (const job of jobs) await insertJob(tx, job);
      });
      const all = (await Promise.all(stores.map((store, n) => drain(store, `dmn_${n}`)))).flat();
      assert.deepEqual(all.toSorted(), jobs.map((job) => job.id).toSorted());
    });
  });
}
