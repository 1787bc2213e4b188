/** What the command line asks of rules. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { startProgram } from '../../support/program.ts';
import { refusal } from '../../support/refusal.ts';
import { audited } from '../../support/fixtures/workspaces.ts';
import { type Rule, WHEN, COMMAND, FILE, rule, call, add, heard, tried } from '../../support/fixtures/rules.ts';

describe('Adding a rule', () => {
  test('shows how the file was read, and records who added it', async (t) => {
    const program = await startProgram(t);
    const added = await add(program, FILE);
    assert.deepEqual(
      { ...added, created_at: '', updated_at: '' },
      {
        name: 'disk',
        enabled: true,
        when: 'event.source == "generic" && event.labels.instance == "db1"',
        cooldown: '10m',
        approval: 'none',
        action: { kind: 'command', inventory: 'localhost', limit: null, timeout: null },
        last_fired_at: null,
        approval_ttl: null,
        added_by: 'local:tester',
        created_at: '',
        updated_at: '',
        reach: { egress_ports: [], privileged: false, writable: [] },
      },
    );
    assert.deepEqual(await call(program, 'rule.get', { name: 'disk' }), added);
    assert.deepEqual(await audited(program), {
      operation: 'rule.add',
      target: 'disk',
      detail: { action: 'command', replace: false, enabled: true },
    });
    const { owners } = await program.store.db.selectFrom('rules').select('owners').executeTakeFirstOrThrow();
    assert.deepEqual(JSON.parse(owners), ['local:tester']);
  });

  test('takes the name from the command line or from the file, and the same from both', async (t) => {
    const program = await startProgram(t);
    assert.equal((await add(program, `${WHEN}${COMMAND}`, { name: 'cpu' })).name, 'cpu');
    assert.equal((await add(program, FILE, { name: 'disk' })).name, 'disk');
    await assert.rejects(
      add(program, FILE, { name: 'cpu' }),
      refusal('invalid_argument', /^name: the rule is called cpu here and disk in the file\.$/),
    );
    await assert.rejects(
      add(program, `${WHEN}${COMMAND}`),
      refusal('invalid_argument', /^name: this field is required/),
    );
    await assert.rejects(add(program, FILE, { name: '-x' }), refusal('invalid_argument', /^name: /));
  });

  test('refuses a rule that could never work, and writes nothing', async (t) => {
    const program = await startProgram(t);
    await assert.rejects(
      add(program, `name: x\nwhen: event.nmae == "x"\n${COMMAND}`),
      refusal('invalid_argument', /^when \(line 2\): .*perhaps "name"/),
    );
    await assert.rejects(
      add(program, 'x'.repeat(70_000)),
      refusal('invalid_argument', /^text: expected at most 65536 bytes/),
    );
    assert.deepEqual(await program.store.db.selectFrom('rules').selectAll().execute(), []);
  });

  test('refuses a workspace, an inventory and a host that do not exist, unless the event names them', async (t) => {
    const program = await startProgram(t);
    await assert.rejects(add(program, rule('apply: nosuch')), refusal('not_found', /^There is no workspace nosuch\.$/));
    await assert.rejects(
      add(program, rule('command: ["df"], inventory: nosuch')),
      refusal('not_found', /^There is no inventory nosuch\.$/),
    );
    await assert.rejects(
      add(program, rule('command: ["df"], inventory: localhost, limit: web1')),
      refusal('invalid_argument', /^limit: host ".*" is not in inventory "localhost"; expected localhost\.$/),
    );
    assert.deepEqual(await program.store.db.selectFrom('rules').selectAll().execute(), []);
    for (const action of [
      'apply: "${event.labels.w}"',
      'command: ["df"], inventory: "${event.labels.i}", limit: web1',
      'command: ["df"], inventory: localhost, limit: "${event.labels.h}"',
    ]) {
      await add(program, rule(action), { replace: true });
    }
  });

  test('can leave it disabled: it is not evaluated for events, and a trial shows its effect', async (t) => {
    const program = await startProgram(t);
    assert.equal((await add(program, FILE, { disabled: true })).enabled, false);
    assert.deepEqual(await audited(program), {
      operation: 'rule.add',
      target: 'disk',
      detail: { action: 'command', replace: false, enabled: false },
    });
    const event = await heard(program);
    const { outcome } = await program.store.db
      .selectFrom('events')
      .select('outcome')
      .where('id', '=', event)
      .executeTakeFirstOrThrow();
    assert.equal(outcome, 'ignored');
    assert.equal((await tried(program, event)).fires, true);
    await call(program, 'rule.enable', { name: 'disk' });
    assert.equal((await add(program, FILE, { replace: true, disabled: true })).enabled, false);
  });

  test('refuses a name that is taken, unless it is to be replaced', async (t) => {
    const program = await startProgram(t);
    await add(program, FILE);
    await call(program, 'rule.disable', { name: 'disk' });
    await assert.rejects(add(program, FILE), refusal('duplicate', /^name: a rule with the name disk already exists/));
    const replaced = await add(program, FILE.replace('10m', '20m'), { replace: true });
    assert.deepEqual([replaced.cooldown, replaced.enabled], ['20m', false]);
    assert.equal((await add(program, FILE, { name: 'disk', replace: true })).cooldown, '10m');
    assert.equal((await add(program, `${WHEN}${COMMAND}`, { name: 'new', replace: true })).name, 'new');
  });
});

test('A rule acts from its addition on, and not after it is disabled or removed', async (t) => {
  const program = await startProgram(t);
  const outcome = async (fingerprint: string): Promise<string | undefined> => {
    const id = await heard(program, { fingerprint });
    return (await program.store.db.selectFrom('events').select('outcome').where('id', '=', id).executeTakeFirst())
      ?.outcome;
  };
  assert.equal(await outcome('a'), 'ignored');
  await add(program, FILE);
  assert.equal(await outcome('b'), 'fired');
  assert.equal((await call(program, 'rule.disable', { name: 'disk' })).enabled, false);
  assert.equal(await outcome('c'), 'ignored');
  assert.equal((await call(program, 'rule.enable', { name: 'disk' })).enabled, true);
  assert.equal(await outcome('d'), 'fired');
  assert.equal((await call(program, 'rule.remove', { name: 'disk' })).name, 'disk');
  assert.equal(await outcome('e'), 'ignored');
  for (const verb of ['get', 'enable', 'disable', 'remove'])
    await assert.rejects(
      call(program, `rule.${verb}`, { name: 'disk' }),
      refusal('not_found', /^There is no rule disk\.$/),
      verb,
    );
});

test('A stored rule that this version refuses cannot be enabled, and the error gives the reason', async (t) => {
  const program = await startProgram(t);
  await add(program, FILE, { disabled: true });
  const store = (columns: object): Promise<unknown> =>
    program.store.write((tx) => tx.db.updateTable('rules').set(columns).execute());
  const enabled = (): Promise<Rule> => call(program, 'rule.enable', { name: 'disk' });
  const { action } = await program.store.db.selectFrom('rules').select('action').executeTakeFirstOrThrow();
  await store({ action: action.replace('true', '') });
  await assert.rejects(
    enabled(),
    refusal(
      'invalid_argument',
      new RegExp(
        String.raw`^The rule disk cannot be read by this version: action\.command: word 1: expected the name of a ` +
          String.raw`program\. Replace it: svc rule add disk --replace --file FILE$`,
      ),
    ),
  );
  await store({ action, when_text: 'event.name' });
  await assert.rejects(
    enabled(),
    refusal(
      'invalid_argument',
      /^The rule disk .*: when: the expression must yield true or false; it yields a text\. /,
    ),
  );
  assert.equal((await call(program, 'rule.get', { name: 'disk' })).enabled, false);
  await add(program, FILE, { replace: true });
  assert.equal((await enabled()).enabled, true);
});
