import assert from 'node:assert/strict';
import type { RuleAction } from '../../../src/domain/rules/actions.ts';
import { getRule, insertRule, noteFired, switchRule } from '../../../src/store/rules/rules.ts';
import { insertSilence } from '../../../src/store/rules/silences.ts';
import type { Program } from '../../support/program.ts';
import { type Scenario, send } from '../../support/scenario.ts';

const RULES = '/api/v1/rules';
const SILENCES = '/api/v1/silences';
const CANARY = 'canary-of-a-rule';

async function add(program: Program, name: string, action: RuleAction): Promise<void> {
  const rule = {
    name,
    when: 'event.source == "generic"',
    cooldownMs: 600_000,
    approval: 'required',
    approvalTtlMs: 60_000,
    action,
    owners: ['rolf'],
    addedBy: 'rolf',
  } as const;
  await program.store.write((tx) => insertRule(tx, rule));
}

async function three(program: Program): Promise<Readonly<Record<string, string>>> {
  await add(program, 'b-apply', { kind: 'apply', workspace: 'net', timeout: null });
  await add(program, 'c-tell', { kind: 'notify', message: CANARY });
  await add(program, 'a-command', {
    kind: 'command',
    command: ['echo', CANARY],
    inventory: 'localhost',
    limit: '${event.labels.instance}',
    timeout: '5m',
  });
  await program.store.write(async (tx) => {
    const { version, order_tag: tag } = await getRule(tx.db, 'b-apply');
    await noteFired(tx, { name: 'b-apply', version, tag });
    await switchRule(tx, 'c-tell', { enabled: false });
  });
  return {};
}

const RULE_FIELDS = ['name', 'enabled', 'when', 'cooldown', 'approval', 'action', 'last_fired_at'];

async function silence(program: Program, reason: string, some: object): Promise<string> {
  const made = { rule: null, when_text: null, reason, created_by: 'rolf' };
  const row = await program.store.write((tx) =>
    insertSilence(tx, { ...made, created_at: tx.now, expires_at: tx.now + 60_000, ...some }),
  );
  return row.id;
}

async function silences(program: Program): Promise<Readonly<Record<string, string>>> {
  const first = await silence(program, 'by rule', { rule: 'disk' });
  await silence(program, 'over', { rule: 'disk', expires_at: 1 });
  const last = await silence(program, 'by expression', { when_text: 'event.labels.instance == "db1"' });
  return { first, last };
}

const RULE_SCENARIOS_ONLY: readonly Scenario[] = [
  {
    operation: 'rule.list',
    rule: 'is an empty list where there is no rule, never absent',
    as: 'readonly',
    send: { method: 'GET', path: RULES },
    expect: { status: 200, kind: 'rule.list', text: /"data":\[\]\}\n$/ },
  },
  {
    operation: 'rule.list',
    rule: 'holds rules by name, in the public fields; of an action its kind and targets, but not its words',
    given: three,
    as: 'readonly',
    send: { method: 'GET', path: RULES },
    expect: {
      status: 200,
      kind: 'rule.list',
      data: [
        {
          name: 'a-command',
          enabled: true,
          when: 'event.source == "generic"',
          cooldown: '10m',
          approval: 'required',
          action: { kind: 'command', inventory: 'localhost', limit: '${event.labels.instance}', timeout: '5m' },
          last_fired_at: null,
        },
        { name: 'b-apply', enabled: true, action: { kind: 'apply', workspace: 'net', timeout: null } },
        { name: 'c-tell', enabled: false, action: { kind: 'notify' } },
      ],
    },
    expectNot: [CANARY, 'echo', '"command":[', '"message"', 'owners', 'rolf'],
    async afterwards(_program, _given, body) {
      const { data } = body as { data: { last_fired_at: string | null; action: object }[] };
      for (const each of data) assert.deepEqual(Object.keys(each), RULE_FIELDS);
      assert.deepEqual(
        data.map(({ action }) => Object.keys(action)),
        [['kind', 'inventory', 'limit', 'timeout'], ['kind', 'workspace', 'timeout'], ['kind']],
      );
      assert.match(data[1]?.last_fired_at ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    },
  },
  {
    operation: 'rule.list',
    rule: 'shows a rule that was disabled since the last answer as disabled',
    given: three,
    as: 'approve',
    send: { method: 'GET', path: RULES },
    expect: { status: 200, kind: 'rule.list', data: [{ name: 'a-command', enabled: true }, {}, {}] },
    async afterwards(program) {
      await program.store.write((tx) => switchRule(tx, 'a-command', { enabled: false }));
      const again = await send(program, 'approve', { method: 'GET', path: RULES });
      assert.deepEqual(
        (again.json as { data: { enabled: boolean }[] }).data.map(({ enabled }) => enabled),
        [false, true, false],
      );
    },
  },
  {
    operation: 'rule.list',
    rule: 'tells of a rule that a silence stops until when and which one, behind the other fields',
    async given(program) {
      await three(program);
      const id = await silence(program, 'by rule', { rule: 'a-command' });
      await silence(program, 'by expression', { rule: 'b-apply', when_text: 'true' });
      return { id };
    },
    as: 'readonly',
    send: { method: 'GET', path: RULES },
    expect: { status: 200, kind: 'rule.list', data: [{ name: 'a-command' }, { name: 'b-apply' }, { name: 'c-tell' }] },
    async afterwards(_program, { id }, body) {
      const [first, ...others] = (body as { data: { silence_id?: string; silenced_until?: string }[] }).data;
      assert.deepEqual(Object.keys(first ?? {}), [...RULE_FIELDS, 'silenced_until', 'silence_id']);
      assert.equal(first?.silence_id, id);
      assert.match(first?.silenced_until ?? '', /^\d{4}-.*Z$/);
      for (const each of others) assert.deepEqual(Object.keys(each), RULE_FIELDS);
    },
  },
  {
    operation: 'rule.list',
    rule: 'is not for a host token: what fires is no business of a host',
    given: three,
    as: 'host',
    send: { method: 'GET', path: RULES },
    expect: { status: 403, code: 'forbidden' },
    expectNot: ['a-command', 'event.source'],
  },
  {
    operation: 'rule.list',
    rule: 'is all that a server does with rules: none is added over the network',
    as: 'operator',
    send: { method: 'POST', path: RULES, body: { name: 'x', text: 'when: "true"\naction: {notify: true}' } },
    expect: { status: 404, code: 'not_found' },
    async afterwards(program) {
      assert.equal(await program.store.db.selectFrom('rules').selectAll().executeTakeFirst(), undefined);
    },
  },
];

const SILENCE_SCENARIOS: readonly Scenario[] = [
  {
    operation: 'silence.list',
    rule: 'is an empty list where nothing is silenced, never absent',
    as: 'readonly',
    send: { method: 'GET', path: SILENCES },
    expect: { status: 200, kind: 'silence.list', text: /"data":\[\]\}\n$/ },
  },
  {
    operation: 'silence.list',
    rule: 'holds the open silences, newest first, in the public fields, without their creator',
    given: silences,
    as: 'readonly',
    send: { method: 'GET', path: SILENCES },
    expect: {
      status: 200,
      kind: 'silence.list',
      data: [
        { rule: null, when: 'event.labels.instance == "db1"', reason: 'by expression' },
        { rule: 'disk', when: null, reason: 'by rule' },
      ],
    },
    expectNot: ['rolf', 'ended_at', '"over"'],
    async afterwards(_program, { first, last }, body) {
      const { data } = body as { data: { id: string }[] };
      assert.deepEqual(
        data.map(({ id }) => id),
        [last, first],
      );
      for (const each of data)
        assert.deepEqual(Object.keys(each), ['id', 'rule', 'when', 'reason', 'created_at', 'expires_at']);
    },
  },
  {
    operation: 'silence.list',
    rule: 'holds those that are over too when all are asked for',
    given: silences,
    as: 'readonly',
    send: { method: 'GET', path: `${SILENCES}?all=true` },
    expect: {
      status: 200,
      kind: 'silence.list',
      data: [{ reason: 'by expression' }, { reason: 'over' }, { reason: 'by rule' }],
    },
  },
  {
    operation: 'silence.list',
    rule: 'takes true or false for all, and names the parameter that is neither',
    as: 'readonly',
    send: { method: 'GET', path: `${SILENCES}?all=perhaps` },
    expect: { status: 400, code: 'invalid_argument', message: /^all: expected true or false/ },
  },
  {
    operation: 'silence.list',
    rule: 'is not for a host token',
    given: silences,
    as: 'host',
    send: { method: 'GET', path: SILENCES },
    expect: { status: 403, code: 'forbidden' },
    expectNot: ['by rule'],
  },
];

export const RULE_SCENARIOS: readonly Scenario[] = [...RULE_SCENARIOS_ONLY, ...SILENCE_SCENARIOS];
