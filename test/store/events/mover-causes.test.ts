/** Who is behind a job that moved the state of a workspace is in the asking chain of what its drift starts. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { newId } from '../../../src/lib/id.ts';
import { cancelJob } from '../../../src/jobs/cancel.ts';
import { leaveMovers, recordChange } from '../../../src/daemon/workspaces/movers.ts';
import type { RunInputs } from '../../../src/daemon/workspaces/run-inputs.ts';
import { readyResult } from '../../../src/daemon/workspaces/run-results.ts';
import { WORKSPACE_RUNS } from '../../../src/daemon/workspaces/run-support.ts';
import { recordVendored } from '../../../src/daemon/vendor/record.ts';
import { keepFound, keepOfRun } from '../../../src/daemon/workspaces/states.ts';
import type { State } from '../../../src/domain/workspaces/workspace.ts';
import { evaluateOutcome, recordOutcome } from '../../../src/reaction/outcome.ts';
import { causersOf, leaveCause } from '../../../src/store/events/causes.ts';
import { finishJob, type Fence } from '../../../src/store/jobs/claims.ts';
import { getJob } from '../../../src/store/jobs/jobs.ts';
import type { Tx } from '../../../src/store/engine/tx.ts';
import type { Store } from '../../../src/store/store.ts';
import { insertWorkspace } from '../../../src/store/workspaces/workspaces.ts';
import { addRule, reactionOf } from '../../support/fixtures/reaction.ts';
import { workspaceRow } from '../../support/fixtures/workspace-row.ts';
import { TEST_RING } from '../../support/seal.ts';
import { claimOne, enqueue, enqueueRun, ENGINES, freshStore } from '../engine-fixture.ts';

/** What a run that keeps no plan needs of its inputs. */
const INPUTS = {} as RunInputs;

function stateAt(serial: number): State {
  return { serial, lineage: 'l', resources: 1, bytes: Buffer.from(`state ${serial}`) };
}

for (const engine of ENGINES) {
  describe(`Causes of a moved state on ${engine.name}`, () => {
    const its = freshStore(engine);

    /** A running job of the given owners, in a workspace where a drift asks for an approval. */
    async function running(kind: 'apply' | 'destroy', owners: readonly string[]) {
      const { store } = its;
      const deps = reactionOf(store);
      await addRule(deps, 'repair', { approval: 'required', when: 'event.source == "drift"' });
      await store.write((tx) => insertWorkspace(tx, workspaceRow('net')));
      const id = await enqueueRun(store, kind, { owners });
      const fence = await claimOne(store);
      return { store, deps, id, fence, row: await getJob(store.db, id) };
    }
    type Run = Awaited<ReturnType<typeof running>>;

    const cancel = ({ store, id }: Run): Promise<boolean> =>
      store.write((tx) => cancelJob(tx, id, { by: 'ana', via: 'api', owner: 'ana', reason: 'x' }, () => undefined));
    const keep = ({ store, fence, row }: Run): Promise<unknown> =>
      store.write((tx) => keepOfRun(tx, fence, row, { state: stateAt(2), ring: TEST_RING }));

    async function outcome({ deps, store }: Run, id: string): Promise<void> {
      const job = await getJob(store.db, id);
      await recordOutcome(deps, job, await evaluateOutcome(deps, job));
    }

    async function finish(run: Run, found: boolean): Promise<void> {
      const { store, fence, row, id } = run;
      const result = { position: { serial: 3, lineage: 'l' }, ownBackend: true, made: null, drift: null };
      const write = await readyResult(row, INPUTS, { state: 'failed', exitCode: 1, ...(found ? { result } : {}) });
      await store.write(async (tx) => {
        await end(tx, fence);
        await write(tx);
      });
      await outcome(run, id);
    }

    /** The asking chain of what a drift asks for that somebody else has looked for. */
    async function driftChain(run: Run): Promise<readonly string[]> {
      const { store } = run;
      const id = await enqueueRun(store, 'drift', { owners: ['jo'] });
      const over = { state: 'succeeded', finished_at: Date.now(), drift_status: 'firing' } as const;
      await store.write(({ db }) => db.updateTable('jobs').set(over).where('id', '=', id).execute());
      await outcome(run, id);
      return endedChain(store);
    }

    test('T84: those who asked for a job that changed a workspace are in the chain of each later drift', async () => {
      const run = await running('destroy', ['ana', 'wes']);
      await run.store.write((tx) => leaveCause(tx, 'workspace:net', 'cem'));
      await finish(run, true);
      assert.deepEqual(await driftChain(run), ['ana', 'jo', 'rolf', 'wes']);
      assert.deepEqual(await driftChain(run), ['ana', 'jo', 'rolf', 'wes']);
    });

    test('T84: the same where the run ended without a result, and where its daemon died', async () => {
      const run = await running('apply', ['ana']);
      await finish(run, false);
      assert.deepEqual(await driftChain(run), ['ana', 'jo', 'rolf']);
      const id = await enqueueRun(run.store, 'apply', { owners: ['eve'] });
      const row = await getJob(run.store.db, id);
      await run.store.write((tx) => WORKSPACE_RUNS.apply.interrupted(tx, row));
      assert.deepEqual(await driftChain(run), ['ana', 'eve', 'jo', 'rolf']);
    });

    for (const [when, steps] of [
      ['before the state moved', [cancel, keep, (run: Run) => finish(run, false)]],
      ['after it, and before the end', [keep, cancel, (run: Run) => finish(run, false)]],
      ['of a run that says nothing', [cancel, (run: Run) => finish(run, false)]],
    ] as const)
      test(`T84: who cancels the apply of another is in the chain of a later drift: ${when}`, async () => {
        const run = await running('apply', ['ben']);
        for (const step of steps) await step(run);
        assert.deepEqual(await driftChain(run), ['ana', 'ben', 'jo', 'rolf']);
        assert.deepEqual(await driftChain(run), ['ana', 'ben', 'jo', 'rolf']);
      });

    test('T84: a state that is found after the end of a cancelled run names who cancelled it', async () => {
      const run = await running('apply', ['ben']);
      await cancel(run);
      await run.store.write((tx) => end(tx, run.fence));
      const found = { state: stateAt(4), ring: TEST_RING };
      await run.store.write((tx) => keepFound(tx, run.row, found));
      assert.deepEqual(await driftChain(run), ['ana', 'ben', 'jo', 'rolf']);
    });

    test('T84: who approved an apply without a cancel may approve the repair of a later drift', async () => {
      const run = await running('apply', ['ana']);
      await run.store.write((tx) => leaveCause(tx, `job:${run.id}`, 'ben'));
      await finish(run, true);
      assert.deepEqual(await driftChain(run), ['ana', 'jo', 'rolf']);
    });

    test('T84: a vendor job changes its source when it has fetched, not only when it is asked for', async () => {
      const { store } = its;
      const read = (): Promise<readonly string[]> => store.write((tx) => causersOf(tx, ['source:ops']));
      const id = await enqueue(store, { kind: 'vendor', source: 'ops', owners: ['ana', 'wes'] });
      for (const owner of ['ana', 'cem']) await store.write((tx) => leaveCause(tx, 'source:ops', owner));
      await read();
      assert.deepEqual(await read(), ['cem']);
      const fetched = { collections: [], roles: [], providers: 1, files: 1, bytes: 1, leftOut: [], requirements: 'x' };
      const job = await getJob(store.db, id);
      await store.write((tx) => recordVendored(tx, job, 'ops', fetched));
      assert.deepEqual((await read()).toSorted(), ['ana', 'cem', 'wes']);
      assert.deepEqual((await read()).toSorted(), ['ana', 'wes']);
    });

    test('T84: a job that is gone, or has no workspace, causes nothing', async () => {
      const run = await running('apply', ['ana']);
      await run.store.write((tx) => leaveMovers(tx, { id: newId('job', Date.now()), workspace: 'net' }));
      await run.store.write((tx) => leaveMovers(tx, { id: run.id, workspace: null }));
      assert.deepEqual(await run.store.db.selectFrom('causes').selectAll().execute(), []);
      await run.store.write((tx) => recordChange(tx, 'net', run.row));
      assert.equal((await run.store.db.selectFrom('causes').selectAll().execute()).length, 1);
    });
  });
}

function end(tx: Tx, fence: Fence): Promise<boolean> {
  return finishJob(tx, fence, { state: 'failed', exitCode: 1, reason: null });
}

/** Of the open request, which is ended: an open job of the rule would keep the next event from asking. */
async function endedChain(store: Store): Promise<readonly string[]> {
  const asked = await store.db.selectFrom('approvals').select(['owners', 'job_id']).execute();
  const [row] = asked;
  assert.ok(row !== undefined && asked.length === 1, `the event asked ${asked.length} times`);
  await store.write(async ({ db }) => {
    await db.deleteFrom('approvals').execute();
    await db.updateTable('jobs').set({ state: 'cancelled' }).where('id', '=', row.job_id).execute();
  });
  return (JSON.parse(row.owners) as string[]).toSorted();
}
