/** Approvals that several decide at once, at, about and after their deadlines by a real clock. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { pause, systemClock } from '../../../src/lib/clock.ts';
import { getApproval } from '../../../src/store/approvals/approvals.ts';
import { getJob } from '../../../src/store/jobs/jobs.ts';
import type { Store } from '../../../src/store/store.ts';
import { ENGINES } from '../../store/engine-fixture.ts';
import { gate, type Gated } from '../../support/fixtures/approvals.ts';
import { ask, codeOf, database, sweep } from '../../support/fixtures/decider.ts';

/** Approvals that are raced for at a time. */
const ROUND = 30;

/**
 * Of each three one has all the time, one a deadline that comes while it is raced for, one a deadline that has come.
 */
function ttlOf(n: number): number {
  return [60_000, 5 + n * 3, -1][n % 3] ?? 0;
}

/** Three deciders at once, each on a separate connection, for and against in turns. Returns how many succeeded. */
async function raceFor(stores: readonly Store[], gated: Gated, n: number): Promise<number> {
  // About as long before its deadline as a decision takes, so that it comes before, at and after it.
  const waitMs = gated.approval.expires_at - Date.now() - (n % 5) * 3;
  if (n % 3 === 1) await pause(systemClock, Math.max(0, waitMs));
  const turn = Math.floor(n / 3);
  const codes = await Promise.all(
    stores.map((store, i) => codeOf(ask(store, gated, (i + turn) % 2 === 0 ? 'approve' : 'reject', `decider-${i}`))),
  );
  assert.ok(
    codes.every((code) => code === null || code === 'conflict'),
    codes.join(),
  );
  return codes.filter((code) => code === null).length;
}

/** Answers how many ended in each state. */
async function race(stores: readonly Store[], count: number): Promise<Map<string, number>> {
  const [one, _two, sweeper] = stores as [Store, Store, Store];
  const tally = new Map<string, number>();
  for (let done = 0; done < count; done += ROUND) {
    const all = await Promise.all(
      Array.from({ length: Math.min(ROUND, count - done) }, (_each, n) =>
        gate(one, { planned: false, ttlMs: ttlOf(n) }),
      ),
    );
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
      assert.equal(winners[n], state === 'expired' ? 0 : 1, `${state}, and ${winners[n]} deciders succeeded`);
      assert.ok(
        at !== null && (state === 'expired' ? at >= deadline : at < deadline),
        `${state} at ${at}, deadline ${deadline}`,
      );
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
  const row = await store.db
    .selectFrom('job_chunks')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('job_id', 'in', jobs)
    .executeTakeFirstOrThrow();
  return row.count;
}

for (const engine of ENGINES) {
  describe(`Approvals that are raced for on ${engine.name}`, () => {
    const races = engine.name === 'SQLite' ? 1_000 : 300;
    test(`T30 F29: ${races} races of approve, reject and expiry end once each, none approved too late`, async (t) => {
      const made = await database(t, engine);
      const tally = await race([await made.open(), await made.open(), await made.open()], races);
      t.diagnostic(JSON.stringify(Object.fromEntries(tally)));
      assert.equal(
        [...tally.values()].reduce((sum, each) => sum + each, 0),
        races,
      );
      assert.equal(tally.size, 3, 'the race had only some of its ends');
    });
  });
}
