import assert from 'node:assert/strict';
import { toJson } from '../../../../src/lib/json.ts';
import { insertCheck } from '../../../../src/store/checks/checks.ts';
import { insertTargets } from '../../../../src/store/checks/targets.ts';
import { insertNetgroup } from '../../../../src/store/netgroups/netgroups.ts';
import type { CheckTargetRow } from '../../../../src/store/schema/schema.ts';
import type { Program } from '../../../support/program.ts';
import { type Scenario, send } from '../../../support/scenario.ts';
import { CHECKS, METRIC, noCheck, REFUSED_CHECKS, WEB } from './refused-checks.ts';

const PENDING = toJson({ disagreeing: [1], withheld: null });

const NOW = Date.UTC(2026, 0, 2);
/** After it was up. */
const DOWN = { status: 'down', was_up: 1, last_change: NOW } as const;

/** A check with two targets, the second with this state. */
async function put(program: Program, state: Partial<CheckTargetRow> = {}): Promise<Readonly<Record<string, string>>> {
  await program.store.write(async (tx) => {
    await insertCheck(tx, { name: 'web', kind: 'tcp', interval_ms: 30_000, options: toJson({}) });
    const row = { check_name: 'web', credentials: null, key_id: null, status: 'unknown' as const, was_up: 0 as const };
    await insertTargets(tx, [
      { ...row, name: 'web1', position: 0, spec: '10.0.0.5:443' },
      { ...row, name: 'web2', position: 1, spec: '10.0.0.6:443' },
    ]);
    if (Object.keys(state).length > 0)
      await tx.db.updateTable('check_targets').set(state).where('name', '=', 'web2').execute();
  });
  return {};
}

async function rowsOf({ store }: Program): Promise<number> {
  return (await store.db.selectFrom('check_targets').select('name').execute()).length;
}

const READS: readonly Scenario[] = [
  {
    operation: 'check.list',
    rule: 'is an empty list where there is no check, never absent',
    as: 'readonly',
    send: { method: 'GET', path: CHECKS },
    expect: { status: 200, kind: 'check.list', text: /"data":\[\]\}\n$/ },
  },
  {
    operation: 'check.list',
    rule: 'has the fields of the contract in their order, and never what is dialled',
    given: (program) => put(program, { ...DOWN, duration_ms: 7, snoozed_until: NOW }),
    as: 'readonly',
    send: { method: 'GET', path: CHECKS },
    expect: {
      status: 200,
      kind: 'check.list',
      text: new RegExp(
        '"data":\\[\\{"name":"web","kind":"tcp","interval":"30s","enabled":true,"targets":\\[' +
          '\\{"name":"web1","status":"unknown","netgroup":"away","duration_ms":null,"last_change":null\\},' +
          '\\{"name":"web2","status":"down","netgroup":"away","duration_ms":7,' +
          '"last_change":"2026-01-02T00:00:00.000Z"\\}\\]\\}\\]\\}\\n$',
      ),
    },
    expectNot: ['10.0.0', '443'],
  },
  {
    operation: 'check.list',
    rule: 'shows a snooze that has not ended',
    given: (program) => put(program, { snoozed_until: Date.UTC(2999, 0, 1) }),
    as: 'readonly',
    send: { method: 'GET', path: CHECKS },
    expect: {
      status: 200,
      data: [{ targets: [{ name: 'web1' }, { name: 'web2', snoozed_until: '2999-01-01T00:00:00.000Z' }] }],
    },
  },
  {
    operation: 'check.list',
    rule: 'shows the netgroup of each target',
    async given(program) {
      await program.store.write((tx) => insertNetgroup(tx, 'dc', { prefixes: ['10.0.0.6/32'], excludes: [] }));
      return put(program);
    },
    as: 'readonly',
    send: { method: 'GET', path: CHECKS },
    expect: { status: 200, data: [{ targets: [{ netgroup: 'away' }, { netgroup: 'dc' }] }] },
  },
];

const added = (rule: string, body: object, text: RegExp, not: readonly string[] = []): Scenario => ({
  operation: 'check.add',
  rule,
  as: 'operator',
  send: { method: 'POST', path: CHECKS, body },
  expect: { status: 200, kind: 'check.get', text },
  expectNot: not,
});

const ADDS: readonly Scenario[] = [
  added(
    'answers the check with its targets in their order, none of them probed yet',
    WEB,
    /"enabled":true,"targets":\[\{"name":"web1","status":"unknown","netgroup":"away",.*"name":"web2".*\]\}\}\n$/,
  ),
  added(
    'answers the own fields of http last, with their defaults, and keeps a credential to itself',
    { name: 'site', kind: 'http', interval: '1h', targets: ['a=https://u:geheim@www.example.org/?t=geheim'] },
    /"duration_ms":null,"last_change":null\}\],"expect":0,"method":"GET","expect_body":null\}\}/,
    ['geheim', 'example.org'],
  ),
  added(
    'answers the own fields of metric last',
    { ...METRIC, op: '>=', value: 0.5, pointer: '/a~1b/0' },
    /\],"op":">=","value":0\.5,"pointer":"\/a~1b\/0"\}\}\n$/,
  ),
  added('takes the longest interval', { ...WEB, interval: '24h' }, /"interval":"1d"/),
  {
    operation: 'check.add',
    rule: 'answers a repeat with the same key as the first time and adds nothing',
    async given(program) {
      const headers = { 'idempotency-key': 'k' };
      await send(program, 'operator', { method: 'POST', path: CHECKS, headers, body: WEB });
      return {};
    },
    as: 'operator',
    send: { method: 'POST', path: CHECKS, headers: { 'idempotency-key': 'k' }, body: { ...METRIC, op: '<', value: 1 } },
    expect: { status: 200, kind: 'check.get', data: { name: 'web', kind: 'tcp' } },
    async afterwards({ store }) {
      const rows = await store.db.selectFrom('checks').select('name').execute();
      assert.deepEqual(
        rows.map(({ name }) => name),
        ['web'],
      );
    },
  },
  {
    operation: 'check.add',
    rule: 'refuses a name that is taken, and changes nothing',
    given: put,
    as: 'operator',
    send: { method: 'POST', path: CHECKS, body: { ...WEB, targets: ['x=10.0.0.9:1'] } },
    expect: { status: 409, code: 'duplicate', message: /^name: a check with the name web already exists/ },
    afterwards: async (program) => assert.equal(await rowsOf(program), 2),
  },
  {
    operation: 'check.add',
    rule: 'is refused to readonly before the body is read',
    as: 'readonly',
    send: { method: 'POST', path: CHECKS, body: 'x' },
    expect: { status: 403, code: 'forbidden' },
    afterwards: noCheck,
  },
];

const refusedUpdate = (rule: string, name: string, body: object, status: number, message: RegExp): Scenario => ({
  operation: 'check.update',
  rule,
  given: put,
  as: 'operator',
  send: { method: 'PUT', path: `${CHECKS}/${name}`, body },
  expect: { status, code: status === 404 ? 'not_found' : 'invalid_argument', message },
  afterwards: async (program) => assert.equal(await rowsOf(program), 2),
});

const UPDATES: readonly Scenario[] = [
  {
    operation: 'check.update',
    rule: 'keeps the state of a kept name and the interval, and forgets that of a dropped one',
    given: (program) => put(program, { status: 'down', duration_ms: 7, last_change: NOW, pending: PENDING }),
    as: 'operator',
    send: { method: 'PUT', path: `${CHECKS}/web`, body: { targets: ['web3=10.0.0.7:1', 'web2=10.0.0.6:443'] } },
    expect: {
      status: 200,
      kind: 'check.get',
      data: {
        interval: '30s',
        targets: [
          { name: 'web3', status: 'unknown', last_change: null },
          { name: 'web2', status: 'down', duration_ms: 7, last_change: '2026-01-02T00:00:00.000Z' },
        ],
      },
    },
    async afterwards({ store }) {
      const rows = await store.db.selectFrom('check_targets').select(['name', 'pending']).orderBy('name').execute();
      assert.deepEqual(
        rows.map((row) => ({ ...row })),
        [
          { name: 'web2', pending: PENDING },
          { name: 'web3', pending: null },
        ],
      );
      const check = await store.db.selectFrom('checks').select('revision').executeTakeFirstOrThrow();
      assert.equal(check.revision, 2);
    },
  },
  {
    operation: 'check.update',
    rule: 'keeps the status of a kept name with another target, but not its observations so far',
    given: (program) => put(program, { status: 'down', pending: PENDING }),
    as: 'operator',
    send: { method: 'PUT', path: `${CHECKS}/web`, body: { targets: ['web2=10.0.0.8:443'], interval: '1s' } },
    expect: { status: 200, data: { interval: '1s', targets: [{ name: 'web2', status: 'down' }] } },
    async afterwards({ store }) {
      const row = await store.db.selectFrom('check_targets').selectAll().executeTakeFirstOrThrow();
      assert.deepEqual([row.spec, row.pending], ['10.0.0.8:443', null]);
    },
  },
  refusedUpdate('of an unknown check is 404', 'none', { targets: ['a=10.0.0.5:1'] }, 404, /^There is no check none\.$/),
  refusedUpdate(
    'takes no other kind',
    'web',
    { targets: ['a=10.0.0.5:1'], kind: 'ping' },
    400,
    /^"kind": no such field/,
  ),
  refusedUpdate(
    'reads targets by the stored kind',
    'web',
    { targets: ['a=10.0.0.5'] },
    400,
    /^targets\.0: a: expected NAME=IP:PORT/,
  ),
  refusedUpdate('needs targets', 'web', { interval: '1m' }, 400, /^targets: this field is required/),
];

const SWITCHES: readonly Scenario[] = [
  {
    operation: 'check.disable',
    rule: 'keeps the state of the targets',
    given: (program) => put(program, { status: 'up', duration_ms: 3, last_change: NOW }),
    as: 'operator',
    send: { method: 'POST', path: `${CHECKS}/web/disable` },
    expect: {
      status: 200,
      kind: 'check.get',
      data: { enabled: false, targets: [{}, { status: 'up', duration_ms: 3 }] },
    },
  },
  {
    operation: 'check.enable',
    rule: 'of an unknown check is 404',
    as: 'operator',
    send: { method: 'POST', path: `${CHECKS}/web/enable` },
    expect: { status: 404, code: 'not_found' },
  },
  {
    operation: 'check.enable',
    rule: 'of one that is enabled changes nothing that is shown',
    given: put,
    as: 'operator',
    send: { method: 'POST', path: `${CHECKS}/web/enable`, body: {} },
    expect: { status: 200, kind: 'check.get', data: { enabled: true } },
  },
  {
    operation: 'check.remove',
    rule: 'removes the check and its state',
    given: (program) => put(program, { status: 'up' }),
    as: 'operator',
    send: { method: 'DELETE', path: `${CHECKS}/web` },
    expect: { status: 204, text: /^$/ },
    afterwards: noCheck,
  },
  {
    operation: 'check.remove',
    rule: 'of an unknown check is 404',
    as: 'operator',
    send: { method: 'DELETE', path: `${CHECKS}/web` },
    expect: { status: 404, code: 'not_found' },
  },
];

const PROBES: readonly Scenario[] = [
  {
    operation: 'check.probe',
    rule: 'of an unknown check is 404',
    as: 'readonly',
    send: { method: 'POST', path: `${CHECKS}/none/probe` },
    expect: { status: 404, code: 'not_found', message: /^There is no check none\.$/ },
  },
  {
    operation: 'check.probe',
    rule: 'of an unknown target is 400',
    given: put,
    as: 'readonly',
    send: { method: 'POST', path: `${CHECKS}/web/probe?target=web3` },
    expect: { status: 400, code: 'invalid_argument', message: /^target: check web has no target web3\.$/ },
  },
  {
    operation: 'check.probe',
    rule: 'is refused to the token of a host',
    as: 'host',
    send: { method: 'POST', path: `${CHECKS}/web/probe` },
    expect: { status: 403, code: 'forbidden' },
  },
];

export const CHECK_SCENARIOS: readonly Scenario[] = [
  ...READS,
  ...ADDS,
  ...REFUSED_CHECKS,
  ...UPDATES,
  ...SWITCHES,
  ...PROBES,
];
