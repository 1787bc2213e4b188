/** What was approved is what runs: sources, workspaces and inventories that change between request, yes and run. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Projected } from '../../../src/views/views.ts';
import { type Fixture, openFixture } from '../../support/fixtures/installation.ts';
import { addGitSource, askForCommand, askForRun, decideAs, placeCommit, syncTo } from '../../support/sources/pinned.ts';
import { items, linesOf, planViewOf, writeRoot } from '../../support/infrastructure.ts';
import { rewrite, tamper } from '../../support/store/rewrite.ts';
import { needs } from '../../support/tools.ts';

const ENDED = ['succeeded', 'failed', 'cancelled', 'interrupted'];
const [FIRST, SECOND] = ['a'.repeat(40), 'b'.repeat(40)];

async function withGitWorkspace(fixture: Fixture): Promise<void> {
  placeCommit(fixture, FIRST, { 'main.tf': items(1) });
  placeCommit(fixture, SECOND, { 'main.tf': items(3) });
  await addGitSource(fixture, FIRST);
  await fixture.call('workspace.add', { name: 'net', source: 'ops' });
}

function hosts(...names: readonly string[]): string {
  const local = names.map((name) => [name, { ansible_connection: 'local' }]);
  return JSON.stringify({ all: { hosts: Object.fromEntries(local) } });
}

/** As somebody who can write only the database. */
async function tamperSource(fixture: Fixture, commit: string): Promise<void> {
  await fixture.store.write(({ db }) => db.updateTable('sources').set({ commit_id: commit }).execute());
}

async function refusedRun(fixture: Fixture, job: string, why: RegExp): Promise<void> {
  const row = await fixture.waitFor(job, ENDED);
  assert.deepEqual([row.state, row.exit_code], ['failed', null]);
  assert.match((await linesOf(fixture, job)).join('\n'), why);
}

for (const postgres of [false, true]) {
  describe(`T90: what was approved, on ${postgres ? 'PostgreSQL' : 'SQLite'}`, () => {
    test(
      'T90: a run uses the commit that its request was about, however often its branch moved',
      { skip: needs('terraform or tofu', 'Landlock ABI 4') },
      async (t) => {
        const fixture = await openFixture(t, { postgres });
        await withGitWorkspace(fixture);
        const asked = await askForRun(fixture, 'plan', 'net');
        await syncTo(fixture, SECOND);
        const shown = await fixture.call<Projected<'approval.get'>>('approval.get', { id: asked.approval });
        assert.equal(shown.source_commit, FIRST);
        assert.deepEqual(Object.keys(shown).slice(-3), ['provenance', 'source_commit', 'summary']);
        await decideAs(fixture, asked, 'approve');
        await fixture.serve();
        const row = await fixture.waitFor(asked.job, ENDED);
        assert.equal(row.state, 'succeeded', (await linesOf(fixture, asked.job)).join('\n'));
        assert.equal((await planViewOf(fixture, row.plan_artifact_id ?? '')).creates.length, 1);
        const job = await fixture.call<Projected<'job.get'>>('job.get', { id: asked.job });
        assert.deepEqual(Object.entries(job).at(-1), ['source_commit', FIRST]);
      },
    );

    test(
      'T90: a commit that is not to be had any more fails the run, and no other one takes its place',
      { skip: needs('git') },
      async (t) => {
        const fixture = await openFixture(t, { postgres });
        await withGitWorkspace(fixture);
        await syncTo(fixture, 'c'.repeat(40));
        const asked = await askForRun(fixture, 'plan', 'net');
        await syncTo(fixture, SECOND);
        await decideAs(fixture, asked, 'approve');
        await fixture.serve();
        await refusedRun(fixture, asked.job, /git fetch failed/);
      },
    );

    test('T90: a source or a workspace that changed before the yes is refused, and can be rejected', async (t) => {
      const fixture = await openFixture(t, { postgres });
      await withGitWorkspace(fixture);
      const asked = await askForRun(fixture, 'destroy', 'net');
      await rewrite(fixture.store, 'workspaces', { path: 'other' });
      await assert.rejects(
        decideAs(fixture, asked, 'approve'),
        /The workspace net is not as it was .*Nothing was decided\. It can be rejected, .* svc job cancel job_/,
      );
      await rewrite(fixture.store, 'workspaces', { path: '' });
      await fixture.call('source.add', { name: 'ops', dir: writeRoot(fixture, 'other', ''), replace: true });
      await assert.rejects(decideAs(fixture, asked, 'approve'), /The source ops is not as it was/);
      await decideAs(fixture, asked, 'reject');
      assert.equal((await fixture.row(asked.job)).state, 'cancelled');
    });

    test('T90: a source or a workspace that changed after the yes fails the run', async (t) => {
      const fixture = await openFixture(t, { postgres });
      await withGitWorkspace(fixture);
      const [first, second] = [await askForRun(fixture, 'plan', 'net'), await askForRun(fixture, 'drift', 'net')];
      await decideAs(fixture, first, 'approve');
      await decideAs(fixture, second, 'approve');
      await fixture.call('source.add', { name: 'ops', dir: writeRoot(fixture, 'other', items(1)), replace: true });
      const daemon = await fixture.serve();
      await refusedRun(fixture, first.job, /The source ops is not as it was when this job was asked for\. Nothing was/);
      await refusedRun(fixture, second.job, /The source ops is not as it was/);
      await daemon.stop();
      const third = await askForRun(fixture, 'plan', 'net');
      await decideAs(fixture, third, 'approve');
      await rewrite(fixture.store, 'workspaces', { path: 'other' });
      await fixture.serve();
      await refusedRun(fixture, third.job, /The workspace net is not as it was when this job was asked for/);
    });

    test('T90: an inventory with other hosts is refused for a yes, and fails the run after one', async (t) => {
      const fixture = await openFixture(t, { postgres });
      const put = (text: string): Promise<unknown> =>
        fixture.call('inventory.add', { name: 'prod', text, format: 'yaml', replace: true });
      await put(hosts('web1'));
      const [first, second] = [await askForCommand(fixture, 'prod'), await askForCommand(fixture, 'prod')];
      await put(hosts('web1', 'db1'));
      await assert.rejects(
        decideAs(fixture, first, 'approve'),
        /The inventory prod is not as it was when this job was/,
      );
      await put(hosts('web1'));
      await decideAs(fixture, second, 'approve');
      await put(hosts('web1', 'db1'));
      await fixture.serve();
      await refusedRun(fixture, second.job, /The inventory prod is not as it was .* Nothing was run\./);
    });

    test('T90: what is pinned is a part of the order, and a row that somebody changed matches nothing', async (t) => {
      const fixture = await openFixture(t, { postgres });
      fixture.store.adoption.end();
      await withGitWorkspace(fixture);
      const asked = await askForRun(fixture, 'plan', 'net');
      const pinned = (await fixture.row(asked.job)).pinned?.replace(FIRST, SECOND) ?? '';
      await tamperSource(fixture, SECOND);
      const other = await askForRun(fixture, 'plan', 'net');
      await tamperSource(fixture, FIRST);
      await assert.rejects(decideAs(fixture, other, 'approve'), /The source ops is not as it was/);
      await tamper(fixture.store, 'jobs', asked.job, { pinned });
      await assert.rejects(decideAs(fixture, asked, 'approve'), /Integrity: job .* was changed after it was written/);
    });

    test('T90: a job that needed no approval pins nothing', async (t) => {
      const fixture = await openFixture(t, { postgres });
      await withGitWorkspace(fixture);
      const { job_id: id } = await fixture.call<{ job_id: string }>('workspace.plan', { name: 'net' });
      assert.equal((await fixture.row(id)).pinned, null);
      assert.equal((await fixture.call<Projected<'job.get'>>('job.get', { id })).source_commit, undefined);
    });
  });
}
