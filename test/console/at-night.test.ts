/** What stops or starts something at night has its button in the console, for who may. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { onMachine } from '../support/console/story.ts';
import { formsOf, visit, type Visitor } from '../support/console/visitor.ts';
import { makeWorkspace } from '../support/fixtures/workspaces.ts';
import { type Program, startProgram } from '../support/program.ts';

const RULE = 'when: "true"\naction:\n  notify: disk\n';
const WORKFLOW = 'steps:\n  - name: look\n    inventory: localhost\n    command: ["true"]\n';

async function setUp(program: Program): Promise<{ run: string }> {
  await onMachine(program, 'rule.add', { name: 'disk', text: RULE });
  await onMachine(program, 'check.add', { name: 'web', kind: 'tcp', interval: '30s', targets: ['web1=10.0.0.5:443'] });
  await onMachine(program, 'workflow.add', { name: 'patch', text: WORKFLOW });
  await makeWorkspace(program, 'net');
  const { run_id: run } = await onMachine<{ run_id: string }>(program, 'workflow.run', { name: 'patch' });
  return { run };
}

/** Presses the button of this action on its page; answers the status and the address that the browser opens then. */
async function press(visitor: Visitor, page: string, action: string, more: object = {}) {
  const form = formsOf((await visitor.open(page)).text).find((each) => each.action === action);
  assert.ok(form !== undefined, `${page} has no form of ${action}`);
  const { status, headers } = await visitor.post(action, { ...form.hidden, ...more });
  return { status, to: headers.get('location') };
}

describe('At night, in the console,', () => {
  it('an operator disables, snoozes, runs, cancels and looks for drift', async (t) => {
    const program = await startProgram(t);
    const { run } = await setUp(program);
    const { db } = program.store;
    const visitor = await visit(program, program.tokens.operator);

    assert.equal((await press(visitor, '/rules/disk', '/rules/disk/disable')).status, 303);
    assert.deepEqual(await db.selectFrom('rules').select('enabled').execute(), [{ enabled: 0 }]);
    assert.doesNotMatch((await visitor.open('/rules/disk')).text, /Disable the rule/);

    assert.equal((await press(visitor, '/checks/web', '/checks/web/snooze', { for: '2h' })).status, 303);
    const [target] = await db.selectFrom('check_targets').select('snoozed_until').execute();
    assert.ok((target?.snoozed_until ?? 0) > Date.now());

    assert.equal((await press(visitor, `/runs/${run}`, `/runs/${run}/cancel`)).status, 303);
    assert.doesNotMatch((await visitor.open(`/runs/${run}`)).text, /Cancel the run/);
    assert.match((await press(visitor, '/workflows/patch', '/workflows/patch/run')).to ?? '', /^\/runs\/wfr_/);
    assert.match((await press(visitor, '/workspaces/net', '/workspaces/net/drift')).to ?? '', /^\/jobs\/job_/);
    const kinds = await db.selectFrom('jobs').select(['kind', 'state']).orderBy('id').execute();
    assert.deepEqual(kinds, [
      { kind: 'command', state: 'cancelled' },
      { kind: 'command', state: 'queued' },
      { kind: 'drift', state: 'queued' },
    ]);
  });

  it('who only reads has none of these buttons', async (t) => {
    const program = await startProgram(t);
    const { run } = await setUp(program);
    const visitor = await visit(program, program.tokens.readonly);
    for (const page of ['/rules/disk', '/checks/web', `/runs/${run}`, '/workflows/patch', '/workspaces/net']) {
      const actions = formsOf((await visitor.open(page)).text).map(({ action }) => action);
      assert.deepEqual(
        actions.filter((action) => action !== '/logout' && !action.includes('probe')),
        [],
        page,
      );
    }
  });
});
