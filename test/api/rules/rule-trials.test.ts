/** Testing a rule on a past event: what it would do, and why it would not. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Projected } from '../../../src/views/views.ts';
import { setCordon } from '../../../src/store/maintenance/cordon.ts';
import { insertWorkspace } from '../../../src/store/workspaces/workspaces.ts';
import { type Program, startProgram } from '../../support/program.ts';
import { refusal } from '../../support/refusal.ts';
import { WHEN, COMMAND, FILE, call, add, heard, tried } from '../../support/fixtures/rules.ts';

/** Everything that a rule could leave behind. */
async function written(program: Program): Promise<unknown> {
  const tables = ['events', 'event_counts', 'jobs', 'approvals', 'rules', 'rule_fires', 'ledger'] as const;
  return Promise.all(tables.map((table) => program.store.db.selectFrom(table).selectAll().execute()));
}

describe('Testing a rule on a past event', () => {
  test('says that it would fire, with each step, and writes nothing', async (t) => {
    const program = await startProgram(t);
    const event = await heard(program);
    await add(program, FILE);
    const before = await written(program);
    const wakes = program.wakes();
    const { fires, outcome, reason, trace, event_id: id } = await tried(program, event);
    assert.deepEqual(
      { fires, outcome, reason, id },
      { fires: true, outcome: 'fired', reason: 'Rule disk matches: a job would be queued.', id: event },
    );
    assert.deepEqual(trace.map(({ step, result }) => `${step} ${result}`).slice(-3), [
      'loop passed',
      'gate passed',
      'fire passed',
    ]);
    assert.deepEqual(await written(program), before);
    assert.equal(program.wakes(), wakes);
  });

  test('says that it would ask for approval, or send a notification', async (t) => {
    const program = await startProgram(t);
    const event = await heard(program);
    await add(program, `name: disk\n${WHEN}approval: required\n${COMMAND}`);
    await add(program, `name: tell\n${WHEN}action: {notify: true}\n`);
    const gated = await tried(program, event);
    assert.deepEqual(
      [gated.fires, gated.outcome, gated.reason],
      [true, 'gated', 'Rule disk matches: a job would wait for approval.'],
    );
    const matched = await tried(program, event, 'tell');
    assert.deepEqual([matched.fires, matched.outcome], [true, 'matched']);
    assert.deepEqual(await program.store.db.selectFrom('approvals').selectAll().execute(), []);
  });

  test('B8: says what its jobs may reach, where a rule can ask for it', async (t) => {
    const program = await startProgram(t);
    const event = await heard(program);
    await add(program, `${FILE}  egress_ports: [443]\n  writable: [/srv/gatehouse-cache]\n`);
    await add(program, `name: tell\n${WHEN}action: {notify: true}\n`);
    const reach = { egress_ports: [443], privileged: false, writable: ['/srv/gatehouse-cache'] };
    assert.deepEqual((await tried(program, event)).reach, reach);
    assert.equal((await tried(program, event, 'tell')).reach, undefined);
  });

  test('says what is wrong with an expression that can never work, in its condition or its action', async (t) => {
    const program = await startProgram(t);
    const event = await heard(program);
    const why = async (text: string): Promise<string> => {
      await add(program, text, { replace: true });
      const { fires, outcome, reason } = await tried(program, event);
      assert.deepEqual([fires, outcome], [false, 'error']);
      return reason;
    };
    assert.match(
      await why('name: disk\nwhen: duration("5 apples") > duration("1h")\n' + COMMAND),
      /converted to a dur/,
    );
    assert.match(await why(`name: disk\n${WHEN}action: {notify: "\${1/0}"}\n`), /a division by zero/);
  });

  test('says why it would not: no match, an error, a silence, a duplicate, the cooldown, the cordon', async (t) => {
    const program = await startProgram(t);
    await add(program, FILE);
    const [other, bare, event] = [
      await heard(program, { labels: { instance: 'db2' } }),
      await heard(program, { labels: {} }),
      await heard(program),
    ];
    const why = async (id: string): Promise<string> => {
      const { fires, outcome, reason } = await tried(program, id);
      assert.equal(fires, false);
      return `${outcome}: ${reason}`;
    };
    assert.equal(await why(other), 'ignored: Rule disk does not match.');
    assert.equal(await why(bare), 'ignored: Rule disk does not match.');
    assert.match(await why(event), /^suppressed: Rule disk acted for this fingerprint/);
    await add(program, FILE.replace('cooldown: 10m\n', ''), { replace: true });
    assert.match(await why(event), /^suppressed: Duplicate: rule disk made job_/);
    await program.store.write((tx) => tx.db.deleteFrom('rule_fires').execute());
    await program.store.write((tx) => setCordon(tx, 'tester'));
    assert.equal(await why(event), 'suppressed: cordoned');
    await call(program, 'silence.add', { rule: 'disk', for: '1h', reason: 'new disks' });
    assert.match(await why(event), /^suppressed: Silence sil_\w+ stops rule disk until .*: new disks$/);
  });

  test('shows the same steps as for a received event: the false term, the silence, the cooldown', async (t) => {
    const program = await startProgram(t);
    await add(program, FILE);
    const text = async (id: string): Promise<string[]> => {
      const traced = await call<Projected<'event.trace'>>(program, 'event.trace', { id });
      return traced.steps.map(({ step, result, why }) => `${step} ${result}: ${why}`);
    };
    const trial = async (id: string): Promise<string[]> =>
      (await tried(program, id)).trace.map(({ step, result, why }) => `${step} ${result}: ${why}`);
    await program.store.write((tx) =>
      tx.db
        .updateTable('rules')
        .set((eb) => ({ updated_at: eb('updated_at', '-', 1_000) }))
        .execute(),
    );
    const other = await heard(program, { labels: { instance: 'db2' } });
    assert.deepEqual(await trial(other), [
      'rule stopped: It did not match. This term is false: event.labels.instance == "db1"',
    ]);
    assert.deepEqual(await trial(other), await text(other));
    const event = await heard(program);
    const stopped = (await trial(event)).find((each) => each.startsWith('cooldown')) ?? '';
    assert.match(stopped, /^cooldown stopped: Rule disk acted for this fingerprint .* ago, and its cooldown is 10m\.$/);
    await call(program, 'silence.add', { rule: 'disk', for: '1h', reason: 'new disks' });
    const silenced = await heard(program);
    assert.deepEqual(await trial(silenced), await text(silenced));
  });

  test('finds what only the creation of the job can find: a missing workspace', async (t) => {
    const program = await startProgram(t);
    const event = await heard(program, { labels: { instance: 'db1', workspace: 'net' } });
    await add(program, `name: disk\n${WHEN}action: {plan: "\${event.labels.workspace}"}\n`);
    const lacking = await tried(program, event);
    assert.deepEqual([lacking.fires, lacking.outcome], [false, 'error']);
    assert.match(lacking.reason, /There is no workspace net/);
    const row = {
      name: 'net',
      source: null,
      path: '/srv/net',
      approve_when: null,
      deny_when: null,
      require_saved_plan: 0,
      protect_destroy: 0,
    } as const;
    await program.store.write((tx) => insertWorkspace(tx, row));
    assert.equal((await tried(program, event)).outcome, 'fired');
  });

  test('tries a disabled rule too, and says that it is disabled', async (t) => {
    const program = await startProgram(t);
    const event = await heard(program);
    await add(program, FILE);
    await call(program, 'rule.disable', { name: 'disk' });
    const { fires, reason } = await tried(program, event);
    assert.deepEqual(
      [fires, reason],
      [true, 'Rule disk matches: a job would be queued. It is disabled and evaluates no event.'],
    );
  });

  test('needs a rule and an event that there are', async (t) => {
    const program = await startProgram(t);
    const event = await heard(program);
    await assert.rejects(tried(program, event), refusal('not_found', /^There is no rule disk\.$/));
    await add(program, FILE);
    await assert.rejects(tried(program, 'evt_00000000000000000000000000'), refusal('not_found', /^There is no event/));
    await assert.rejects(
      tried(program, 'evt_1'),
      refusal('invalid_argument', /^event: expected an id of the form evt_/),
    );
  });
});
