/** A run that starts at a step takes results and requesters only from rows that the service wrote. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toJson } from '../../../src/lib/json.ts';
import { openFixture } from '../../support/fixtures/installation.ts';
import { rewrite } from '../../support/store/rewrite.ts';
import { add, start, step } from '../../support/workflows/fixture.ts';

for (const engine of ['SQLite', 'PostgreSQL'])
  test(`T80: --from takes nothing of a run that somebody changed, on ${engine}`, async (t) => {
    const fixture = await openFixture(t, { postgres: engine === 'PostgreSQL' });
    const { store } = fixture;
    await add(fixture, 'w', [step('gate', 'true'), step('danger', 'true', '    needs: [gate]\n')]);
    const { run_id: id } = await start(fixture, 'w');
    await rewrite(store, 'workflow_steps', { state: 'failed' });
    await store.write(({ db }) => db.updateTable('workflow_runs').set({ state: 'failed', unfinished: 0 }).execute());
    const setStep = (state: 'failed' | 'succeeded'): Promise<unknown> =>
      store.write(({ db }) => db.updateTable('workflow_steps').set({ state }).where('name', '=', 'gate').execute());
    await setStep('succeeded');
    await assert.rejects(
      start(fixture, 'w', ['danger']),
      new RegExp(`Integrity: workflow step ${id} gate was changed`),
    );
    const openStep = /The step gate of the last run \w+ has not ended\./;
    await rewrite(store, 'workflow_steps', { state: 'started' });
    await assert.rejects(start(fixture, 'w', ['danger']), openStep);
    await rewrite(store, 'workflow_steps', { state: 'succeeded' });
    const { owners } = await store.db.selectFrom('workflow_runs').select('owners').executeTakeFirstOrThrow();
    const setOwners = (to: typeof owners): Promise<unknown> =>
      store.write(({ db }) => db.updateTable('workflow_runs').set({ owners: to }).execute());
    await setOwners(toJson([]));
    await assert.rejects(start(fixture, 'w', ['danger']), /Integrity: workflow run \w+ was changed/);
    await setOwners(owners);
    assert.equal((await start(fixture, 'w', ['danger'])).workflow, 'w');
  });
