import assert from 'node:assert/strict';
import { test } from 'node:test';
import { recountPlans } from '../../../src/daemon/workspaces/recount.ts';
import { planViewJson } from '../../../src/operations/approvals/plan-view.ts';
import { openDecisionFixture } from '../../support/fixtures/decisions.ts';

test('A plan of an earlier build gets the counts of its view, in its row and in the view, once', async (t) => {
  const fixture = await openDecisionFixture(t);
  const { program } = fixture;
  const { approvalId } = await fixture.gate({ destroys: ['terraform_data.a', 'terraform_data.b'] });
  const broken = await fixture.gate({});
  const { store, services } = program;
  const rows = () => store.db.selectFrom('artifacts').select(['id', 'summary', 'sealed_view']).orderBy('id').execute();
  const asked = store.db.selectFrom('approvals').select('plan_artifact_id as id').where('id', '=', approvalId);
  const { id } = await asked.executeTakeFirstOrThrow();
  await store.write((tx) =>
    tx.db
      .updateTable('artifacts')
      .set({ sealed_view: Buffer.alloc(64) })
      .where('id', '!=', id ?? '')
      .execute(),
  );
  const deps = { store, keyring: () => services.keyring() };
  assert.equal(await recountPlans(deps), 1);
  const summary = '1 to destroy, 1 to replace, 2 to change, 1 to create';
  const after = await rows();
  assert.equal(after.find((row) => row.id === id)?.summary, summary);
  assert.equal(after.find((row) => row.id !== id)?.summary, 'as it is', `of ${broken.approvalId}, which does not open`);
  const view = JSON.parse((await planViewJson(program, id ?? ''))?.toString('utf8') ?? '') as { summary: string };
  assert.equal(view.summary, summary);
  assert.equal(await recountPlans(deps), 0);
  assert.deepEqual(await rows(), after);
});
