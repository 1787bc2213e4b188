import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { expireOnce, EXPIRE_EVERY_MS } from '../../src/daemon/expire.ts';
import type { Decision } from '../../src/domain/approval.ts';
import { Failure, type FailureCode } from '../../src/domain/failure.ts';
import { type Clock, pause, systemClock } from '../../src/lib/clock.ts';
import { decide, type Decided } from '../../src/operations/decide.ts';
import { findApprovalOfJob, getApproval, listApprovals, listExpired, nextDeadline, pendingForArtifact, settle } from '../../src/store/approvals.ts';
import { claimJobs } from '../../src/store/claims.ts';
import { getJob } from '../../src/store/jobs.ts';
import type { Store } from '../../src/store/store.ts';
import { auditOf, gate, type Gated, moveState, SERIAL } from '../support/approval-maker.ts';
import { ENGINES, type EngineUnderTest, type TestDatabase } from './kit.ts';

const HOUR_MS = 3_600_000;
const services = { wake: () => undefined, announceJob: () => undefined };

/** A clock that a test sets: only what it tells is made up, its pauses are real. */
function setClock(at: { nowMs: number }): Clock {
  return { ...systemClock, now: () => at.nowMs };
}

function shifted(byMs: number): Clock {
  return { ...systemClock, now: () => Date.now() + byMs };
}

async function database(t: TestContext, engine: EngineUnderTest): Promise<TestDatabase> {
  const made = await engine.create();
  t.after(() => made.remove());
  return made;
}

function ask(store: Store, { approval }: Gated, decision: Decision, name = 'ana'): Promise<Decided> {
  const request = { approvalId: approval.id, decision, reason: null, decider: { name, owner: name, via: 'api' } };
  return store.write((tx) => decide({ store, services }, tx, request));
}

function sweep(store: Store, clock: Clock = systemClock): Promise<number> {
  return expireOnce({ store, clock, announceJob: () => undefined, self: () => 'dmn_a' });
}

async function codeOf(answer: Promise<unknown>): Promise<FailureCode | null> {
  try {
    await answer;
    return null;
  } catch (error) {
    if (error instanceof Failure) return error.code;
    throw error;
  }
}

function ids(rows: readonly { id: string }[]): string[] {
  return rows.map(({ id }) => id);
}

async function statesOf(store: Store, { approval, jobId }: Gated): Promise<readonly string[]> {
  return [(await getApproval(store.db, approval.id)).state, (await getJob(store.db, jobId)).state];
}

/** Approvals that are raced for at a time. */
const ROUND = 30;

/** Of each three one has all the time, one a deadline that comes while it is raced for, one a deadline that has come. */
function ttlOf(n: number): number {
  return [60_000, 5 + n * 3, -1][n % 3] ?? 0;
}

/** Three deciders at once, on connections of their own, for and against it in turns. Answers how many were told yes. */
async function raceFor(stores: readonly Store[], gated: Gated, n: number): Promise<number> {
  // About as long before its deadline as a decision takes, so that it comes before, at and after it.
  const waitMs = gated.approval.expires_at - Date.now() - (n % 5) * 3;
  if (n % 3 === 1) await pause(systemClock, Math.max(0, waitMs));
  const turn = Math.floor(n / 3);
  const codes = await Promise.all(stores.map((store, i) => codeOf(ask(store, gated, (i + turn) % 2 === 0 ? 'approve' : 'reject', `decider-${i}`))));
  assert.ok(codes.every((code) => code === null || code === 'conflict'), codes.join());
  return codes.filter((code) => code === null).length;
}

/** Answers how many ended in each state. */
async function race(stores: readonly Store[], count: number): Promise<Map<string, number>> {
  const [one, _two, sweeper] = stores as [Store, Store, Store];
  const tally = new Map<string, number>();
  for (let done = 0; done < count; done += ROUND) {
    const all = await Promise.all(Array.from({ length: Math.min(ROUND, count - done) }, (_each, n) => gate(one, { planned: false, ttlMs: ttlOf(n) })));
    const over = { yet: false };
    const sweeping = (async () => {
      for (; !over.yet; await pause(systemClock, 2)) await sweep(sweeper);
    })();
    const winners = await Promise.all(all.map((gated, n) => raceFor(stores, gated, n)));
    over.yet = true;
    await sweeping;
    await sweep(sweeper);
    for (const [n, { approval, jobId }] of all.entries()) {
      const { state, expires_at: deadline, decided_at: at } = await getApproval(one.db, approval.id);
      assert.equal(winners[n], state === 'expired' ? 0 : 1, `${state}, and ${winners[n]} deciders were told yes`);
      assert.ok(at !== null && (state === 'expired' ? at >= deadline : at < deadline), `${state} at ${at}, deadline ${deadline}`);
      assert.equal((await getJob(one.db, jobId)).state, state === 'approved' ? 'queued' : 'cancelled');
      tally.set(state, (tally.get(state) ?? 0) + 1);
    }
    assert.equal(await movesOf(one, all), all.length, 'each job was moved once');
  }
  return tally;
}

/** How many state events these jobs have, beside their births. */
async function movesOf(store: Store, all: readonly Gated[]): Promise<number> {
  const jobs = all.map(({ jobId }) => jobId);
  const row = await store.db.selectFrom('job_chunks').select((eb) => eb.fn.countAll<number>().as('count')).where('job_id', 'in', jobs).executeTakeFirstOrThrow();
  return row.count;
}

for (const engine of ENGINES) {
  describe(`Approvals on ${engine.name}`, () => {
    const races = engine.name === 'SQLite' ? 1_000 : 300;
    test(`T30 F29: ${races} races of approve, reject and expiry are settled once each, and none is accepted at or after its deadline`, async (t) => {
      const made = await database(t, engine);
      const tally = await race([await made.open(), await made.open(), await made.open()], races);
      t.diagnostic(JSON.stringify(Object.fromEntries(tally)));
      assert.equal([...tally.values()].reduce((sum, each) => sum + each, 0), races);
      assert.equal(tally.size, 3, 'the race had only some of its ends');
    });

    test('What is approved is queued, what is rejected is cancelled, and who decided, how and why stays', async (t) => {
      const store = await (await database(t, engine)).open();
      const yes = await gate(store);
      const { approval, jobState } = await ask(store, yes, 'approve');
      assert.equal(jobState, 'queued');
      assert.deepEqual([approval.state, approval.decided_by, approval.decided_via], ['approved', 'ana', 'api']);
      assert.equal((await findApprovalOfJob(store.db, yes.jobId))?.id, yes.approval.id);
      const no = await gate(store, { workspace: 'dns' });
      const reason = 'not on a Friday';
      await store.write((tx) => decide({ store, services }, tx, { approvalId: no.approval.id, decision: 'reject', reason, decider: { name: 'ana', owner: 'ana', via: 'link' } }));
      assert.equal((await getApproval(store.db, no.approval.id)).reason, reason);
      assert.deepEqual(await statesOf(store, no), ['rejected', 'cancelled']);
      assert.deepEqual((await store.write((tx) => claimJobs(tx, 'dmn_a', 9))).map(({ id }) => id), [yes.jobId]);
    });

    test('A job that waits for a decision holds no concurrency key, and an approved one goes behind who holds it', async (t) => {
      const store = await (await database(t, engine)).open();
      const first = await gate(store);
      const second = await gate(store);
      await ask(store, first, 'approve');
      await ask(store, second, 'approve');
      const claimed = await store.write((tx) => claimJobs(tx, 'dmn_a', 9));
      assert.deepEqual(claimed.map(({ id }) => id), [first.jobId]);
    });

    test('T30: A decision about what is decided is a conflict that tells the outcome, and changes nothing', async (t) => {
      const store = await (await database(t, engine)).open();
      const gated = await gate(store);
      await ask(store, gated, 'reject');
      const before = await getApproval(store.db, gated.approval.id);
      await assert.rejects(ask(store, gated, 'approve', 'bea'), /is rejected already by ana via api at 20/);
      assert.deepEqual(await getApproval(store.db, gated.approval.id), before);
      assert.equal(await codeOf(store.write((tx) => decide({ store, services }, tx, { approvalId: 'apr_00000000000000000000000000', decision: 'approve', reason: null, decider: { name: 'ana', owner: 'ana', via: 'api' } }))), 'not_found');
    });

    test('T21: A plan of a state that moved, of another lineage, or that was replaced is stale for yes and for no', async (t) => {
      const store = await (await database(t, engine)).open();
      const moved = await gate(store);
      await moveState(store, SERIAL + 1, { byJob: 'job_mover', via: 'api' });
      for (const decision of ['approve', 'reject'] as const) {
        await assert.rejects(ask(store, moved, decision), (error: Failure) => {
          assert.equal(error.code, 'stale_plan');
          assert.partialDeepStrictEqual(error.extra, { stale: { plan_serial: SERIAL, current_serial: SERIAL + 1, moved_by_job: 'job_mover', moved_via: 'api' } });
          return true;
        });
      }
      assert.deepEqual(await statesOf(store, moved), ['pending', 'awaiting_approval']);

      const renamed = await gate(store, { workspace: 'dns' });
      await store.write(({ db }) => db.updateTable('workspaces').set({ lineage: 'another' }).where('name', '=', 'dns').execute());
      assert.equal(await codeOf(ask(store, renamed, 'approve')), 'stale_plan');

      const replaced = await gate(store, { workspace: 'web' });
      await store.write(({ db }) => db.updateTable('artifacts').set({ digest: 'another' }).where('id', '=', replaced.artifactId).execute());
      assert.equal(await codeOf(ask(store, replaced, 'approve')), 'stale_plan');
      await store.write(({ db }) => db.deleteFrom('artifacts').where('id', '=', replaced.artifactId).execute());
      assert.equal(await codeOf(ask(store, replaced, 'approve')), 'stale_plan');
      assert.deepEqual(await statesOf(store, replaced), ['pending', 'awaiting_approval']);
    });

    test('F29: What expired while no daemon ran is ended by the first pass, and its job can not be claimed', async (t) => {
      const store = await (await database(t, engine)).open();
      const gated = await gate(store, { ttlMs: -1 });
      const open = await gate(store, { workspace: 'dns' });
      assert.equal(await codeOf(ask(store, gated, 'approve')), 'conflict');
      assert.deepEqual(await statesOf(store, gated), ['pending', 'awaiting_approval']);
      const nextMs = await sweep(store);
      assert.equal(nextMs, EXPIRE_EVERY_MS);
      assert.deepEqual(await statesOf(store, gated), ['expired', 'cancelled']);
      assert.deepEqual(await statesOf(store, open), ['pending', 'awaiting_approval']);
      assert.deepEqual(await store.write((tx) => claimJobs(tx, 'dmn_a', 9)), []);
      assert.deepEqual((await auditOf(store, gated.approval.id)).map(({ operation, principal }) => [operation, principal]), [['approval.expire', 'daemon:dmn_a']]);
      await assert.rejects(ask(store, gated, 'approve'), /is expired already at 20/);
    });

    test('More approvals than one piece expire in one pass, and the pass says when the next deadline comes', async (t) => {
      const store = await (await database(t, engine)).open();
      await Promise.all(Array.from({ length: 130 }, () => gate(store, { planned: false, ttlMs: -1 })));
      await gate(store, { ttlMs: 20_000 });
      const nextMs = await sweep(store);
      assert.ok(nextMs > 10_000 && nextMs <= 20_000, `${nextMs}`);
      assert.equal((await listApprovals(store.db, { all: false }, 500)).length, 1);
      assert.equal((await listApprovals(store.db, { all: true }, 500)).filter(({ state }) => state === 'expired').length, 130);
    });

    test('Lists are newest first, in pages, and of what is pending only unless all are asked for', async (t) => {
      const store = await (await database(t, engine)).open();
      const [a, b, c] = [await gate(store, { workspace: 'a' }), await gate(store, { workspace: 'b' }), await gate(store, { workspace: 'c' })];
      await ask(store, b, 'reject');
      assert.deepEqual(ids(await listApprovals(store.db, { all: false }, 9)), [c.approval.id, a.approval.id]);
      assert.deepEqual(ids(await listApprovals(store.db, { all: true }, 2)), [c.approval.id, b.approval.id]);
      assert.deepEqual(ids(await listApprovals(store.db, { all: true, before: b.approval.id }, 2)), [a.approval.id]);
      assert.equal(await pendingForArtifact(store.db, a.artifactId), a.approval.id);
      assert.equal(await pendingForArtifact(store.db, b.artifactId), null);
      assert.equal(await nextDeadline(store.db), a.approval.expires_at);
      assert.deepEqual(await listExpired(store.db, a.approval.expires_at - 1, 9), []);
      assert.deepEqual(ids(await listExpired(store.db, a.approval.expires_at, 9)), [a.approval.id]);
    });

    test('One plan has one pending approval', async (t) => {
      const store = await (await database(t, engine)).open();
      const { approval } = await gate(store);
      const twin = { ...approval, id: 'apr_00000000000000000000000001', job_id: 'job_00000000000000000000000001' };
      await assert.rejects(store.write(({ db }) => db.insertInto('approvals').values(twin).execute()), (error) => store.dialect.faultOf(error) === 'unique');
    });
  });
}

test('T30: On SQLite a decision is taken until the last millisecond before the deadline, an expiry from the deadline on', async (t) => {
  const at = { nowMs: Date.now() };
  const store = await (await database(t, ENGINES[0]!)).open({ clock: setClock(at) });
  const settled = async (deltaMs: number, to: 'approved' | 'expired'): Promise<boolean> => {
    at.nowMs = Date.now();
    const { approval } = await gate(store, { planned: false });
    at.nowMs = approval.expires_at + deltaMs;
    return (await store.write((tx) => settle(tx, approval.id, { to, by: null, via: null, reason: null }))) !== undefined;
  };
  assert.deepEqual([await settled(-1, 'approved'), await settled(0, 'approved'), await settled(1, 'approved')], [true, false, false]);
  assert.deepEqual([await settled(-1, 'expired'), await settled(0, 'expired'), await settled(1, 'expired')], [false, true, true]);
});

test('F10: On PostgreSQL a process whose clock is two hours off gives, keeps and ends deadlines by the clock of the database', async (t) => {
  const made = await database(t, ENGINES[1]!);
  const right = await made.open();
  for (const offMs of [-2 * HOUR_MS, 2 * HOUR_MS]) {
    const clock = shifted(offMs);
    const store = await made.open({ clock });
    const { approval } = await gate(store, { planned: false, ttlMs: HOUR_MS });
    const databaseMs = await right.dialect.clock(right.db, 0);
    assert.ok(Math.abs(approval.expires_at - HOUR_MS - databaseMs) < 60_000, 'the deadline is by the database');
    const open = await gate(right, { planned: false, ttlMs: HOUR_MS });
    await sweep(store, clock);
    assert.deepEqual(await statesOf(right, open), ['pending', 'awaiting_approval']);
    await ask(store, open, 'approve');
    const over = await gate(right, { planned: false, ttlMs: -1 });
    assert.equal(await codeOf(ask(store, over, 'approve')), 'conflict');
    await sweep(store, clock);
    assert.deepEqual(await statesOf(right, over), ['expired', 'cancelled']);
  }
});
