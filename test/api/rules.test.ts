/** What the command line asks of rules and silences. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { NormalEvent } from '../../src/domain/event.ts';
import type { Projected } from '../../src/operations/views.ts';
import { receive } from '../../src/reaction/receive.ts';
import { setCordon } from '../../src/store/cordon.ts';
import { insertWorkspace } from '../../src/store/workspaces.ts';
import { type Program, startProgram } from '../support/program.ts';
import { alert, WEBHOOK } from '../support/reaction-maker.ts';
import { refusal } from '../support/refusal.ts';
import { audited, callLocally } from '../support/workspace-maker.ts';

type Rule = Projected<'rule.get'>;
type Tested = Projected<'rule.test'>;
type Silence = Projected<'silence.get'>;

const WHEN = 'when: event.source == "generic" && event.labels.instance == "db1"\n';
const COMMAND = 'action:\n  command: ["true", "${event.labels.instance}"]\n  inventory: localhost\n';
const FILE = `name: disk\n${WHEN}cooldown: 10m\n${COMMAND}`;

const rule = (action: string): string => `name: x\n${WHEN}action: {${action}}\n`;
const call = <T = Rule>(program: Program, operation: string, raw: object): Promise<T> => callLocally<T>(program, operation, raw);
const add = (program: Program, text: string, some: object = {}): Promise<Rule> => call(program, 'rule.add', { text, ...some });

/** An event in the ledger; answers its id. */
async function heard(program: Program, some: Partial<NormalEvent> = {}): Promise<string> {
  const [outcome] = await receive(program.services.reaction, [alert(some)], WEBHOOK);
  return outcome?.event.id ?? assert.fail();
}

const tried = (program: Program, event: string, name = 'disk'): Promise<Tested> => call<Tested>(program, 'rule.test', { name, event });

/** Everything that a rule could leave behind. */
async function written(program: Program): Promise<unknown> {
  const tables = ['events', 'event_counts', 'jobs', 'approvals', 'rules', 'rule_fires', 'ledger'] as const;
  return Promise.all(tables.map((table) => program.store.db.selectFrom(table).selectAll().execute()));
}

describe('Adding a rule', () => {
  test('shows what was understood, and notes who stands behind it', async (t) => {
    const program = await startProgram(t);
    const added = await add(program, FILE);
    assert.deepEqual({ ...added, created_at: '', updated_at: '' }, {
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
    });
    assert.deepEqual(await call(program, 'rule.get', { name: 'disk' }), added);
    assert.deepEqual(await audited(program), { operation: 'rule.add', target: 'disk', detail: { action: 'command', replace: false, enabled: true } });
    const { owners } = await program.store.db.selectFrom('rules').select('owners').executeTakeFirstOrThrow();
    assert.deepEqual(JSON.parse(owners), ['local:tester']);
  });

  test('takes the name from the command line or from the file, and the same from both', async (t) => {
    const program = await startProgram(t);
    assert.equal((await add(program, `${WHEN}${COMMAND}`, { name: 'cpu' })).name, 'cpu');
    assert.equal((await add(program, FILE, { name: 'disk' })).name, 'disk');
    await assert.rejects(add(program, FILE, { name: 'cpu' }), refusal('invalid_argument', /^name: the rule is called cpu here and disk in the file\.$/));
    await assert.rejects(add(program, `${WHEN}${COMMAND}`), refusal('invalid_argument', /^name: this field is required/));
    await assert.rejects(add(program, FILE, { name: '-x' }), refusal('invalid_argument', /^name: /));
  });

  test('refuses what could never work, and leaves nothing behind', async (t) => {
    const program = await startProgram(t);
    await assert.rejects(add(program, `name: x\nwhen: event.nmae == "x"\n${COMMAND}`), refusal('invalid_argument', /^when \(line 2\): .*perhaps "name"/));
    await assert.rejects(add(program, `name: x\n${WHEN}action: {playbook: a.yml}\n`), refusal('not_implemented', /^action\.playbook \(line 3\)/));
    await assert.rejects(add(program, 'x'.repeat(70_000)), refusal('invalid_argument', /^text: expected at most 65536 bytes/));
    assert.deepEqual(await program.store.db.selectFrom('rules').selectAll().execute(), []);
  });

  test('refuses a workspace, an inventory and a host that there is not, unless the event names them', async (t) => {
    const program = await startProgram(t);
    await assert.rejects(add(program, rule('apply: nosuch')), refusal('not_found', /^There is no workspace nosuch\.$/));
    await assert.rejects(add(program, rule('command: ["df"], inventory: nosuch')), refusal('not_found', /^There is no inventory nosuch\.$/));
    await assert.rejects(add(program, rule('command: ["df"], inventory: localhost, limit: web1')), refusal('invalid_argument', /^limit: no host of the inventory localhost/));
    assert.deepEqual(await program.store.db.selectFrom('rules').selectAll().execute(), []);
    for (const action of ['apply: "${event.labels.w}"', 'command: ["df"], inventory: "${event.labels.i}", limit: web1', 'command: ["df"], inventory: localhost, limit: "${event.labels.h}"']) {
      await add(program, rule(action), { replace: true });
    }
  });

  test('may leave it disabled: no event is tried on it, and a trial shows what it would do', async (t) => {
    const program = await startProgram(t);
    assert.equal((await add(program, FILE, { disabled: true })).enabled, false);
    assert.deepEqual(await audited(program), { operation: 'rule.add', target: 'disk', detail: { action: 'command', replace: false, enabled: false } });
    const event = await heard(program);
    const { outcome } = await program.store.db.selectFrom('events').select('outcome').where('id', '=', event).executeTakeFirstOrThrow();
    assert.equal(outcome, 'ignored');
    assert.equal((await tried(program, event)).fires, true);
    await call(program, 'rule.enable', { name: 'disk' });
    assert.equal((await add(program, FILE, { replace: true, disabled: true })).enabled, false);
  });

  test('refuses a name that is taken, unless it is to be replaced', async (t) => {
    const program = await startProgram(t);
    await add(program, FILE);
    await call(program, 'rule.disable', { name: 'disk' });
    await assert.rejects(add(program, FILE), refusal('duplicate', /^name: a rule is called disk already/));
    const replaced = await add(program, FILE.replace('10m', '20m'), { replace: true });
    assert.deepEqual([replaced.cooldown, replaced.enabled], ['20m', false]);
    assert.equal((await add(program, FILE, { name: 'disk', replace: true })).cooldown, '10m');
    assert.equal((await add(program, `${WHEN}${COMMAND}`, { name: 'new', replace: true })).name, 'new');
  });
});

test('A rule acts from the moment on in which it is added, and not after it is disabled or removed', async (t) => {
  const program = await startProgram(t);
  const outcome = async (fingerprint: string): Promise<string | undefined> => {
    const id = await heard(program, { fingerprint });
    return (await program.store.db.selectFrom('events').select('outcome').where('id', '=', id).executeTakeFirst())?.outcome;
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
  for (const verb of ['get', 'enable', 'disable', 'remove']) await assert.rejects(call(program, `rule.${verb}`, { name: 'disk' }), refusal('not_found', /^There is no rule disk\.$/), verb);
});

test('A stored rule that this version refuses is not enabled, and who tries is told why', async (t) => {
  const program = await startProgram(t);
  await add(program, FILE, { disabled: true });
  const store = (columns: object): Promise<unknown> => program.store.write((tx) => tx.db.updateTable('rules').set(columns).execute());
  const enabled = (): Promise<Rule> => call(program, 'rule.enable', { name: 'disk' });
  const { action } = await program.store.db.selectFrom('rules').select('action').executeTakeFirstOrThrow();
  await store({ action: action.replace('true', '') });
  await assert.rejects(enabled(), refusal('invalid_argument', /^The rule disk can not be read by this version: action\.command: the first word must name a program\. Add it anew: svc rule add disk --replace --file FILE$/));
  await store({ action, when_text: 'event.name' });
  await assert.rejects(enabled(), refusal('invalid_argument', /^The rule disk .*: when: the expression must yield true or false; it yields a text\. /));
  assert.equal((await call(program, 'rule.get', { name: 'disk' })).enabled, false);
  await add(program, FILE, { replace: true });
  assert.equal((await enabled()).enabled, true);
});

describe('Testing a rule on a past event', () => {
  test('says that it would fire, with each step, and writes nothing', async (t) => {
    const program = await startProgram(t);
    const event = await heard(program);
    await add(program, FILE);
    const before = await written(program);
    const wakes = program.wakes();
    const { fires, outcome, reason, trace, event_id: id } = await tried(program, event);
    assert.deepEqual({ fires, outcome, reason, id }, { fires: true, outcome: 'fired', reason: 'Rule disk matches: a job would be queued.', id: event });
    assert.deepEqual(trace.map(({ step, result }) => `${step} ${result}`).slice(-3), ['loop passed', 'gate passed', 'fire passed']);
    assert.deepEqual(await written(program), before);
    assert.equal(program.wakes(), wakes);
  });

  test('says that it would ask for approval, or tell people', async (t) => {
    const program = await startProgram(t);
    const event = await heard(program);
    await add(program, `name: disk\n${WHEN}approval: required\n${COMMAND}`);
    await add(program, `name: tell\n${WHEN}action: {notify: true}\n`);
    const gated = await tried(program, event);
    assert.deepEqual([gated.fires, gated.outcome, gated.reason], [true, 'gated', 'Rule disk matches: a job would wait for approval.']);
    const matched = await tried(program, event, 'tell');
    assert.deepEqual([matched.fires, matched.outcome], [true, 'matched']);
    assert.deepEqual(await program.store.db.selectFrom('approvals').selectAll().execute(), []);
  });

  test('says why it would not: no match, an error, a silence, a duplicate, the cooldown, the cordon', async (t) => {
    const program = await startProgram(t);
    await add(program, FILE);
    const [other, bare, event] = [await heard(program, { labels: { instance: 'db2' } }), await heard(program, { labels: {} }), await heard(program)];
    const why = async (id: string): Promise<string> => {
      const { fires, outcome, reason } = await tried(program, id);
      assert.equal(fires, false);
      return `${outcome}: ${reason}`;
    };
    assert.equal(await why(other), 'ignored: Rule disk does not match.');
    assert.match(await why(bare), /^error: .*the event has no "instance"; it has no labels\.$/);
    assert.match(await why(event), /^suppressed: Rule disk acted for this fingerprint/);
    await add(program, FILE.replace('cooldown: 10m\n', ''), { replace: true });
    assert.match(await why(event), /^suppressed: Duplicate: rule disk made job_/);
    await program.store.write((tx) => tx.db.deleteFrom('rule_fires').execute());
    await program.store.write((tx) => setCordon(tx, 'tester'));
    assert.equal(await why(event), 'suppressed: cordoned');
    await call(program, 'silence.add', { rule: 'disk', for: '1h', reason: 'new disks' });
    assert.match(await why(event), /^suppressed: Silence sil_\w+ stops rule disk until .*: new disks$/);
  });

  test('tells its steps in the words of the events that came in: the term that is false, the silence, the cooldown', async (t) => {
    const program = await startProgram(t);
    await add(program, FILE);
    const text = async (id: string): Promise<string[]> => {
      const traced = await call<Projected<'event.trace'>>(program, 'event.trace', { id });
      return traced.steps.map(({ step, result, why }) => `${step} ${result}: ${why}`);
    };
    const trial = async (id: string): Promise<string[]> => (await tried(program, id)).trace.map(({ step, result, why }) => `${step} ${result}: ${why}`);
    await program.store.write((tx) => tx.db.updateTable('rules').set((eb) => ({ updated_at: eb('updated_at', '-', 1_000) })).execute());
    const other = await heard(program, { labels: { instance: 'db2' } });
    assert.deepEqual(await trial(other), ['rule stopped: It did not match: this is false: event.labels.instance == "db1"']);
    assert.deepEqual(await trial(other), await text(other));
    const event = await heard(program);
    const stopped = (await trial(event)).find((each) => each.startsWith('cooldown')) ?? '';
    assert.match(stopped, /^cooldown stopped: Rule disk acted for this fingerprint .* ago, and its cooldown is 10m\.$/);
    await call(program, 'silence.add', { rule: 'disk', for: '1h', reason: 'new disks' });
    const silenced = await heard(program);
    assert.deepEqual(await trial(silenced), await text(silenced));
  });

  test('finds what only making the job finds: a workspace that there is not', async (t) => {
    const program = await startProgram(t);
    const event = await heard(program, { labels: { instance: 'db1', workspace: 'net' } });
    await add(program, `name: disk\n${WHEN}action: {plan: "\${event.labels.workspace}"}\n`);
    const lacking = await tried(program, event);
    assert.deepEqual([lacking.fires, lacking.outcome], [false, 'error']);
    assert.match(lacking.reason, /There is no workspace net/);
    const row = { name: 'net', source: null, path: '/srv/net', approve_when: null, deny_when: null, require_saved_plan: 0, protect_destroy: 0 } as const;
    await program.store.write((tx) => insertWorkspace(tx, row));
    assert.equal((await tried(program, event)).outcome, 'fired');
  });

  test('tries a disabled rule too, and says that it is disabled', async (t) => {
    const program = await startProgram(t);
    const event = await heard(program);
    await add(program, FILE);
    await call(program, 'rule.disable', { name: 'disk' });
    const { fires, reason } = await tried(program, event);
    assert.deepEqual([fires, reason], [true, 'Rule disk matches: a job would be queued. It is disabled: no event is tried on it.']);
  });

  test('needs a rule and an event that there are', async (t) => {
    const program = await startProgram(t);
    const event = await heard(program);
    await assert.rejects(tried(program, event), refusal('not_found', /^There is no rule disk\.$/));
    await add(program, FILE);
    await assert.rejects(tried(program, 'evt_00000000000000000000000000'), refusal('not_found', /^There is no event/));
    await assert.rejects(tried(program, 'evt_1'), refusal('invalid_argument', /^event: expected an id of the form evt_/));
  });
});

describe('A silence', () => {
  test('is of a rule, of events, or of both, has a reason, and an end', async (t) => {
    const program = await startProgram(t);
    await add(program, FILE);
    const made = await call<Silence>(program, 'silence.add', { rule: 'disk', for: '2h', reason: ' new disks ' });
    assert.deepEqual([made.rule, made.when, made.reason, Date.parse(made.expires_at) - Date.parse(made.created_at)], ['disk', null, 'new disks', 7_200_000]);
    assert.deepEqual(await audited(program), { operation: 'silence.add', target: made.id, detail: { rule: 'disk' } });
    const both = await call<Silence>(program, 'silence.add', { rule: 'disk', when: 'event.name == "x"', for: '30m', reason: 'r' });
    assert.deepEqual([both.rule, both.when], ['disk', 'event.name == "x"']);
    assert.equal((await call<Silence>(program, 'silence.add', { when: 'true', for: '30m', reason: 'r' })).rule, null);
  });

  test('is refused by the field that is wrong', async (t) => {
    const program = await startProgram(t);
    const cases: readonly (readonly [object, RegExp])[] = [
      [{ for: '1h', reason: 'r' }, /^rule, when: expected one of them, or both\.$/],
      [{ when: 'event.nmae == "x"', for: '1h', reason: 'r' }, /^when: character 6: event has no field "nmae"/],
      [{ when: '', for: '1h', reason: 'r' }, /^when: expected an expression/],
      [{ when: 'true', for: '0s', reason: 'r' }, /^for: expected a positive duration/],
      [{ when: 'true', for: '400d', reason: 'r' }, /^for: .*at most 366d/],
      [{ when: 'true', for: 'soon', reason: 'r' }, /^for: expected a positive duration/],
      [{ when: 'true', for: '1h', reason: '  ' }, /^reason: expected a reason/],
      [{ when: 'true', for: '1h' }, /^reason: this field is required/],
    ];
    for (const [raw, message] of cases) await assert.rejects(call(program, 'silence.add', raw), refusal('invalid_argument', message), JSON.stringify(raw));
    await assert.rejects(call(program, 'silence.add', { rule: 'disk', for: '1h', reason: 'r' }), refusal('not_found', /^There is no rule disk\.$/));
  });

  test('stops its rule at once and until it is removed; the events say which', async (t) => {
    const program = await startProgram(t);
    await add(program, FILE.replace('cooldown: 10m\n', ''));
    const { id } = await call<Silence>(program, 'silence.add', { rule: 'disk', for: '2h', reason: 'new disks' });
    const row = async (fingerprint: string) => program.store.db.selectFrom('events').selectAll().where('id', '=', await heard(program, { fingerprint })).executeTakeFirstOrThrow();
    const stopped = await row('a');
    assert.equal(stopped.outcome, 'suppressed');
    assert.ok(stopped.reason.includes(id) && stopped.reason.includes('new disks'), stopped.reason);
    const cut = await call<Silence>(program, 'silence.remove', { id });
    assert.ok(Date.parse(cut.expires_at) <= Date.now());
    assert.equal((await row('b')).outcome, 'fired');
    await assert.rejects(call(program, 'silence.remove', { id }), refusal('conflict', /has ended already/));
    await assert.rejects(call(program, 'silence.remove', { id: 'sil_00000000000000000000000000' }), refusal('not_found'));
  });
});
