/** A row that somebody changes for the moment of a request, or of a run, decides nothing about the workspace. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { toJson } from '../../../src/lib/json.ts';
import type { Db } from '../../../src/store/schema/schema.ts';
import { addWorkspace, items, linesOf, runToEnd } from '../../support/infrastructure.ts';
import { type Fixture, openFixture } from '../../support/fixtures/installation.ts';
import { rewrite } from '../../support/store/rewrite.ts';
import { needs } from '../../support/tools.ts';

const SKIP = { skip: needs('terraform or tofu', 'Landlock ABI 4') };

async function served(...[ending, options]: Parameters<typeof openFixture>): Promise<Fixture> {
  const fixture = await openFixture(ending, options);
  await fixture.serve();
  return fixture;
}

function write(fixture: Fixture, change: (db: Db) => Promise<unknown>): Promise<unknown> {
  return fixture.store.write((tx) => change(tx.db));
}

async function planOf(fixture: Fixture, name: string): Promise<string> {
  const job = await runToEnd(fixture, 'plan', name);
  return job.plan_artifact_id ?? assert.fail((await linesOf(fixture, job.id)).join('\n'));
}

/** Asks while nothing is claimed; what `between` does has happened before the run. Answers its output. */
async function failedAfter(
  fixture: Fixture,
  verb: 'apply' | 'destroy',
  raw: object,
  between: () => Promise<unknown>,
): Promise<string> {
  await fixture.call('maintenance.cordon', {});
  const { job_id: id } = await fixture.call<{ job_id: string }>(`workspace.${verb}`, raw);
  await between();
  await fixture.call('maintenance.uncordon', {});
  const job = await fixture.waitFor(id, ['failed', 'succeeded']);
  const lines = (await linesOf(fixture, id)).join('\n');
  assert.deepEqual([job.state, job.leader_pid], ['failed', null], lines);
  return lines;
}

for (const postgres of [false, true]) {
  describe(`T80: what decides about a workspace, on ${postgres ? 'PostgreSQL' : 'SQLite'}`, SKIP, () => {
    test('T80: a verdict that somebody makes milder for a moment applies no plan without its approval', async (t) => {
      const fixture = await served(t, { postgres });
      await addWorkspace(fixture, 'net', items(1), { approve_when: 'true' });
      const id = await planOf(fixture, 'net');
      const verdict = (to: 'clean' | 'require_approval') => (db: Db) =>
        db.updateTable('artifacts').set({ verdict: to }).where('id', '=', id).execute();
      await write(fixture, verdict('clean'));
      await assert.rejects(fixture.call('workspace.apply', { name: 'net', plan: id }), {
        code: 'forbidden',
        message: `Integrity: saved plan ${id} was changed after it was written. Nothing was run.`,
      });
      // The run looks again: as if the change had not been seen at the request.
      await rewrite(fixture.store, 'artifacts', { verdict: 'clean' }, id);
      const lines = await failedAfter(fixture, 'apply', { name: 'net', plan: id }, () =>
        rewrite(fixture.store, 'artifacts', { verdict: 'require_approval' }, id),
      );
      assert.match(lines, /asks for an approval of this plan, and the job has none\. Nothing was run\./);
    });

    test('T80: facts of a saved plan that were changed after the request end its run', async (t) => {
      const fixture = await served(t, { postgres });
      await addWorkspace(fixture, 'net', items(1));
      const id = await planOf(fixture, 'net');
      for (const change of [{ own_backend: 1 }, { needs_init: 1 }, { verdict_reason: 'none' }] as const) {
        const row = fixture.store.db.selectFrom('artifacts').selectAll().where('id', '=', id);
        const { own_backend, needs_init, verdict_reason } = await row.executeTakeFirstOrThrow();
        const set = (to: object): Promise<unknown> =>
          write(fixture, (db) => db.updateTable('artifacts').set(to).where('id', '=', id).execute());
        const lines = await failedAfter(fixture, 'apply', { name: 'net', plan: id }, () => set(change));
        assert.match(lines, /Integrity: saved plan art_\w+ was changed after it was written\. Nothing was run\./);
        await set({ own_backend, needs_init, verdict_reason });
      }
      assert.equal((await runToEnd(fixture, 'apply', 'net', { plan: id })).state, 'succeeded');
      const { serial } = await fixture.call<{ serial: number | null }>('workspace.get', { name: 'net' });
      assert.notEqual(serial, null, 'its state is kept');
    });

    test('T80: a run ends where somebody took the secrets of earlier runs from the row', async (t) => {
      const fixture = await served(t, { postgres });
      await fixture.call('secret.set', { secret: 'net/word', value: 'canary-5b1e77a0' });
      const shown = 'variable "word" {}\noutput "word" {\n  value = var.word\n}\n';
      await addWorkspace(fixture, 'net', shown, { run_secrets: { word: 'net/word' } });
      assert.equal((await runToEnd(fixture, 'apply', 'net')).state, 'succeeded');
      await write(fixture, (db) =>
        db
          .updateTable('workspaces')
          .set({ secret_refs: toJson([]) })
          .execute(),
      );
      const job = await runToEnd(fixture, 'plan', 'net');
      assert.equal(job.state, 'failed');
      assert.match((await linesOf(fixture, job.id)).join('\n'), /^Integrity: workspace net was changed[^\n]*$/);
    });

    test('T80, T29: a switch of a workspace that somebody turns off for a moment refuses its run', async (t) => {
      const fixture = await served(t, { postgres });
      const on = { protect_destroy: true, require_saved_plan: true };
      await addWorkspace(fixture, 'net', items(1), on);
      await write(fixture, (db) =>
        db.updateTable('workspaces').set({ protect_destroy: 0, require_saved_plan: 0 }).execute(),
      );
      const changed = { code: 'forbidden', message: /^Integrity: workspace net was changed/ };
      await assert.rejects(fixture.call('workspace.destroy', { name: 'net' }), changed);
      await assert.rejects(fixture.call('workspace.apply', { name: 'net' }), changed);
      // Turned on through the service after the request, they hold for the run too.
      const off = { protect_destroy: 0, require_saved_plan: 0 };
      const turnOn = (): Promise<unknown> => fixture.call('workspace.update', { name: 'net', ...on });
      await rewrite(fixture.store, 'workspaces', off);
      const destroyed = await failedAfter(fixture, 'destroy', { name: 'net' }, turnOn);
      assert.match(destroyed, /protected from destroy runs.* Nothing was run\./);
      await rewrite(fixture.store, 'workspaces', off);
      const applied = await failedAfter(fixture, 'apply', { name: 'net' }, turnOn);
      assert.match(applied, /applies saved plans only.* Nothing was run\./);
    });
  });
}
