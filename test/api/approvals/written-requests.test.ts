/** A person is shown only what was asked for: rows of a request that somebody changed in the database. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { newId } from '../../../src/lib/id.ts';
import { toJson } from '../../../src/lib/json.ts';
import type { Projected } from '../../../src/views/views.ts';
import type { TaggedTable } from '../../../src/store/engine/tags/forms.ts';
import { insertRun } from '../../../src/store/workflows/runs.ts';
import {
  ask,
  assertPending,
  type DecisionFixture,
  openDecisionFixture,
  tap,
} from '../../support/fixtures/decisions.ts';
import { callLocally } from '../../support/fixtures/workspaces.ts';
import { rewrite, tamper } from '../../support/store/rewrite.ts';

interface Change {
  readonly table: TaggedTable;
  readonly changes: object;
  readonly of: 'approvalId' | 'jobId' | 'artifactId';
}

const CHANGES: readonly Change[] = [
  { table: 'approvals', of: 'approvalId', changes: { summary: 'clears the cache' } },
  { table: 'approvals', of: 'approvalId', changes: { runbook: 'apply:cache', owners: '[]' } },
  { table: 'approvals', of: 'approvalId', changes: { one_tap: 1 } },
  { table: 'jobs', of: 'jobId', changes: { spec: '{"workspace":"cache"}' } },
  { table: 'jobs', of: 'jobId', changes: { writable: 1 } },
  { table: 'jobs', of: 'jobId', changes: { privileged: 1, writable: 0 } },
  { table: 'artifacts', of: 'artifactId', changes: { summary: 'no changes', destroys: 0 } },
];

const NAMED: Readonly<Record<string, string>> = { approvals: 'approval', jobs: 'job', artifacts: 'saved plan' };

async function summaries({ program }: DecisionFixture, id: string): Promise<readonly string[]> {
  const all = await callLocally<Projected<'approval.list'>>(program, 'approval.list', {});
  const one = await callLocally<Projected<'approval.get'>>(program, 'approval.get', { id });
  return [all.find((each) => each.id === id)?.summary ?? '', one.summary];
}

async function insertStep({ program }: DecisionFixture, jobId: string): Promise<string> {
  const id = newId('run', Date.now());
  await rewrite(program.store, 'jobs', { trigger: 'workflow' }, jobId);
  await program.store.write((tx) =>
    insertRun(
      tx,
      {
        id,
        workflow: 'patching',
        definition: toJson({ steps: [] }),
        trigger: 'api',
        origin: 'manual',
        event_id: null,
        rule: null,
        matched_at: null,
        schedule: null,
        requested_by: 'ci',
        owners: toJson(['ci']),
        resumes: null,
        because: null,
      },
      [{ name: 'drop', state: 'started', job_id: jobId, taken_from: null, reason: null }],
    ),
  );
  return id;
}

for (const postgres of [false, true]) {
  describe(`T80: a request that somebody changed, on ${postgres ? 'PostgreSQL' : 'SQLite'}`, () => {
    for (const { table, changes, of } of CHANGES)
      test(`T80: by ${table} ${JSON.stringify(changes)} is shown as changed, and can only be rejected`, async (t) => {
        const fixture = await openDecisionFixture(t, { postgres });
        fixture.program.store.adoption.end();
        const gated = await fixture.gate({ destroys: ['terraform_data.a'] });
        const links = await fixture.links(gated.approvalId);
        const honest = await summaries(fixture, gated.approvalId);
        assert.deepEqual(honest, ['as it is', 'as it is']);
        await tamper(fixture.program.store, table, gated[of], changes);
        const fault = `Integrity: ${NAMED[table]} ${gated[of]} was changed after it was written. Nothing was run.`;
        assert.deepEqual(await summaries(fixture, gated.approvalId), [fault, fault]);
        const page = await ask(links.approve, 'GET');
        assert.deepEqual([page.status, page.text.includes('This request was changed')], [200, true]);
        assert.doesNotMatch(page.text, /<form|cache/);
        for (const sent of [await ask(links.approve, 'POST'), await tap(links.approve)])
          assert.deepEqual([sent.status, sent.text.includes(fault)], [409, true]);
        await assertPending(fixture, gated);
        if (table === 'approvals') await assert.rejects(fixture.links(gated.approvalId, 'bo'), { code: 'forbidden' });
        const question = await ask(links.reject, 'GET');
        assert.match(question.text, /Integrity: [^<]*<\/p>[^]*<form method="post">/);
        assert.equal((await ask(links.reject, 'POST')).status, 200);
        assert.equal(await fixture.jobState(gated.jobId), 'cancelled');
      });

    test('T80: is no request without a plan where its plan is away', async (t) => {
      const fixture = await openDecisionFixture(t, { postgres });
      const { approvalId, artifactId } = await fixture.gate({ destroys: ['terraform_data.a'] });
      const { store } = fixture.program;
      await store.write((tx) => tx.db.deleteFrom('artifacts').where('id', '=', artifactId).execute());
      const fault = `The saved plan ${artifactId} is not kept any more. Nothing was run.`;
      assert.deepEqual(await summaries(fixture, approvalId), [fault, fault]);
    });

    test('T80: shows no plan of another request', async (t) => {
      const fixture = await openDecisionFixture(t, { postgres });
      const [asked, harmless] = [await fixture.gate({ destroys: ['terraform_data.a'] }), await fixture.gate()];
      const { store, tokens, url } = fixture.program;
      const plan = async (id: string): Promise<{ readonly status: number; readonly text: string }> => {
        const headers = { authorization: `Bearer ${tokens.approve}` };
        const response = await fetch(`${url}/api/v1/approvals/${id}/plan`, { headers });
        return { status: response.status, text: await response.text() };
      };
      assert.match((await plan(asked.approvalId)).text, /"address":"terraform_data\.a"/);
      await store.write((tx) => tx.db.deleteFrom('approvals').where('id', '=', harmless.approvalId).execute());
      await tamper(store, 'approvals', asked.approvalId, { plan_artifact_id: harmless.artifactId });
      for (const state of ['pending', 'expired', 'rejected', 'approved']) {
        await tamper(store, 'approvals', asked.approvalId, { state });
        const { status, text } = await plan(asked.approvalId);
        assert.deepEqual([status, /Do not approve it; run svc doctor/.test(text)], [409, true], state);
      }
    });

    test('T80: names no step and no workflow that somebody wrote', async (t) => {
      const fixture = await openDecisionFixture(t, { postgres });
      const { store } = fixture.program;
      store.adoption.end();
      const gated = await fixture.gate({ planned: false });
      const runId = await insertStep(fixture, gated.jobId);
      const [honest] = await summaries(fixture, gated.approvalId);
      assert.match(honest ?? '', /\(step drop of workflow patching\)$/);
      await tamper(store, 'workflow_runs', runId, { workflow: 'reading' });
      for (const text of await summaries(fixture, gated.approvalId))
        assert.match(text, /^Integrity: workflow run run_\w+ was changed/);
      await tamper(store, 'workflow_runs', runId, { workflow: 'patching' });
      const named = (name: string, from: string): Promise<unknown> =>
        store.write((tx) => tx.db.updateTable('workflow_steps').set({ name }).where('name', '=', from).execute());
      await named('look', 'drop');
      for (const text of await summaries(fixture, gated.approvalId))
        assert.match(text, /^Integrity: workflow step run_\w+ look was changed/);
      await named('drop', 'look');
      const taken = (from: string | null): Promise<unknown> =>
        store.write((tx) => tx.db.updateTable('workflow_steps').set({ taken_from: from }).execute());
      await taken('run_another');
      for (const text of await summaries(fixture, gated.approvalId))
        assert.match(text, /^Integrity: the workflow step of job job_\w+ was removed/);
      await taken(null);
      assert.deepEqual(await summaries(fixture, gated.approvalId), [honest, honest]);
    });
  });
}
