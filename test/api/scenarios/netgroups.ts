import assert from 'node:assert/strict';
import { NETGROUP_LIMITS } from '../../../src/domain/netgroups/prefix-list.ts';
import type { Program } from '../../support/program.ts';
import { type Scenario, send } from '../../support/scenario.ts';

const NETGROUPS = '/api/v1/netgroups';
const EU = { name: 'dc-eu', prefixes: '10.0.0.0/16, !10.0.9.0/24' };

interface Group {
  readonly id: string;
  readonly name: string;
  readonly prefixes: readonly string[];
  readonly excludes: readonly string[];
}

async function add(program: Program, body: object = EU, key?: string): Promise<Readonly<Record<string, string>>> {
  const headers = key === undefined ? {} : { 'idempotency-key': key };
  const { status, json } = await send(program, 'operator', { method: 'POST', path: NETGROUPS, headers, body });
  assert.equal(status, 200);
  return { id: (json as { data: Group }).data.id };
}

async function listed(program: Program): Promise<readonly Group[]> {
  const { json } = await send(program, 'readonly', { method: 'GET', path: NETGROUPS });
  return (json as { data: readonly Group[] }).data;
}

async function none(program: Program): Promise<void> {
  assert.deepEqual(await listed(program), []);
}

/** What a list of prefixes has after a write that was refused. */
async function unchanged(program: Program): Promise<void> {
  assert.deepEqual(
    (await listed(program)).map(({ prefixes, excludes }) => [prefixes, excludes]),
    [[['10.0.0.0/16'], ['10.0.9.0/24']]],
  );
}

const LISTS: readonly Scenario[] = [
  {
    operation: 'netgroup.list',
    rule: 'is an empty list before a group was added',
    as: 'readonly',
    send: { method: 'GET', path: NETGROUPS },
    expect: { status: 200, kind: 'netgroup.list', text: /"data":\[\]\}\n$/ },
  },
  {
    operation: 'netgroup.list',
    rule: 'holds all by name, in the fields of the contract',
    async given(program) {
      await add(program, { name: 'lab', prefixes: 'fd00::/8' });
      return add(program);
    },
    as: 'approve',
    send: { method: 'GET', path: NETGROUPS },
    expect: {
      status: 200,
      kind: 'netgroup.list',
      text: new RegExp(
        String.raw`"data":\[\{"id":"net_[0-9a-z]{26}","name":"dc-eu","prefixes":\["10\.0\.0\.0/16"\],` +
          String.raw`"excludes":\["10\.0\.9\.0/24"\]\},` +
          String.raw`\{"id":"net_[0-9a-z]{26}","name":"lab","prefixes":\["fd00::/8"\],"excludes":\[\]\}\]\}\n$`,
      ),
    },
  },
];

const ADDS: readonly Scenario[] = [
  {
    operation: 'netgroup.add',
    rule: 'answers the group with its prefixes in canonical form',
    as: 'operator',
    send: {
      method: 'POST',
      path: NETGROUPS,
      body: { name: 'dc', prefixes: '10.1.2.3/8,::ffff:192.168.0.0/112,2001:DB8::/32,!10.1.0.0/16' },
    },
    expect: {
      status: 200,
      kind: 'netgroup.get',
      data: { name: 'dc', prefixes: ['10.0.0.0/8', '192.168.0.0/16', '2001:db8::/32'], excludes: ['10.1.0.0/16'] },
    },
    async afterwards(program, _given, body) {
      assert.deepEqual(await listed(program), [(body as { data: Group }).data]);
      const { json } = await send(program, 'operator', { method: 'GET', path: '/api/v1/audit?operation=netgroup.add' });
      const [row] = (json as { data: { target: string; detail: object }[] }).data;
      assert.deepEqual([row?.target, row?.detail], ['dc', { prefixes: 3, excludes: 1 }]);
    },
  },
  {
    operation: 'netgroup.add',
    rule: 'refuses a name that is taken',
    given: add,
    as: 'operator',
    send: { method: 'POST', path: NETGROUPS, body: { name: 'dc-eu', prefixes: '10.3.0.0/16' } },
    expect: { status: 409, code: 'duplicate', message: /^name: a netgroup with the name dc-eu already exists\.$/ },
    afterwards: unchanged,
  },
  {
    operation: 'netgroup.add',
    rule: 'answers a repeat with the same key as the first time and adds nothing',
    given: (program) => add(program, EU, 'k'),
    as: 'operator',
    send: {
      method: 'POST',
      path: NETGROUPS,
      headers: { 'idempotency-key': 'k' },
      body: { name: 'other', prefixes: '10.3.0.0/16' },
    },
    expect: { status: 200, kind: 'netgroup.get', data: { name: 'dc-eu' } },
    async afterwards(program, { id }, body) {
      assert.equal((body as { data: Group }).data.id, id);
      await unchanged(program);
    },
  },
  {
    operation: 'netgroup.add',
    rule: 'refuses one prefix more than all groups may have, and adds nothing of it',
    async given(program) {
      const { prefixesEach, prefixesInAll } = NETGROUP_LIMITS;
      for (let group = 0; group < prefixesInAll / prefixesEach; group += 1) {
        const prefixes = Array.from({ length: prefixesEach }, (_, n) => `10.${group}.${n >> 8}.${n & 255}`).join(',');
        await add(program, { name: `g${group}`, prefixes });
      }
      return {};
    },
    as: 'operator',
    send: { method: 'POST', path: NETGROUPS, body: { name: 'more', prefixes: '10.200.0.0/16' } },
    expect: { status: 409, code: 'conflict', message: /^prefixes: all netgroups would have 5001 .* at most 5000\.$/ },
    async afterwards(program) {
      assert.equal((await listed(program)).length, 5);
    },
  },
];

const REFUSED: readonly [rule: string, body: unknown, message: RegExp][] = [
  ['the name away', { name: 'away', prefixes: '10.0.0.0/8' }, /^name: "away" stands for every other address/],
  ['another bad name', { name: 'DC', prefixes: '10.0.0.0/8' }, /^name: expected 1 to 63 of /],
  ['no name', { prefixes: '10.0.0.0/8' }, /^name: this field is required\.$/],
  ['no prefixes', { name: 'dc' }, /^prefixes: this field is required\.$/],
  ['an empty list', { name: 'dc', prefixes: '' }, /^prefixes: expected a prefix such as /],
  ['a list of JSON', { name: 'dc', prefixes: ['10.0.0.0/8'] }, /^prefixes: expected prefixes with commas /],
  ['a length that is too great', { name: 'dc', prefixes: '10.0.0.0/33' }, /^prefixes: .* has a wrong length/],
  ['leading zeros', { name: 'dc', prefixes: '010.0.0.0/8' }, /^prefixes: .* leading zeros/],
  ['an address with a zone', { name: 'dc', prefixes: 'fe80::1%eth0' }, /^prefixes: .* has a zone/],
  ['a name of a host', { name: 'dc', prefixes: 'example.org' }, /^prefixes: "example\.org" is not a prefix/],
  ['only exclusions', { name: 'dc', prefixes: '!10.0.0.0/8' }, /^prefixes: expected at least one prefix without !/],
  ['a list that is too long', { name: 'dc', prefixes: ','.repeat(70_000) }, /^prefixes: expected at most 65536 char/],
  ['another field', { name: 'dc', prefixes: '10.0.0.0/8', excludes: '' }, /^"excludes": no such field here\.$/],
];

const REFUSALS: readonly Scenario[] = REFUSED.map(([rule, body, message]) => ({
  operation: 'netgroup.add',
  rule: `T41: refuses ${rule}`,
  as: 'operator',
  send: { method: 'POST', path: NETGROUPS, body },
  expect: { status: 400, code: 'invalid_argument', message },
  afterwards: none,
}));

const SETS: readonly Scenario[] = [
  {
    operation: 'netgroup.set',
    rule: 'replaces all prefixes and keeps the id',
    given: add,
    as: 'operator',
    send: { method: 'PUT', path: `${NETGROUPS}/dc-eu`, body: { name: 'dc-eu', prefixes: '10.2.0.0/16' } },
    expect: { status: 200, kind: 'netgroup.get', data: { name: 'dc-eu', prefixes: ['10.2.0.0/16'], excludes: [] } },
    async afterwards(program, { id }) {
      assert.deepEqual(await listed(program), [{ id, name: 'dc-eu', prefixes: ['10.2.0.0/16'], excludes: [] }]);
    },
  },
  {
    operation: 'netgroup.set',
    rule: 'needs no name in the body',
    given: add,
    as: 'operator',
    send: { method: 'PUT', path: `${NETGROUPS}/dc-eu`, body: { prefixes: '10.2.0.0/16' } },
    expect: { status: 200, kind: 'netgroup.get', data: { prefixes: ['10.2.0.0/16'] } },
  },
  {
    operation: 'netgroup.set',
    rule: 'refuses another name in the body than in the path: a group is not renamed',
    given: add,
    as: 'operator',
    send: { method: 'PUT', path: `${NETGROUPS}/dc-eu`, body: { name: 'dc-us', prefixes: '10.2.0.0/16' } },
    expect: {
      status: 400,
      code: 'invalid_argument',
      message: /^name: expected "dc-eu", as in the path, or no such field\.$/,
    },
    afterwards: unchanged,
  },
  {
    operation: 'netgroup.set',
    rule: 'T41: refuses a bad prefix, and nothing changes',
    given: add,
    as: 'operator',
    send: { method: 'PUT', path: `${NETGROUPS}/dc-eu`, body: { prefixes: '10.2.0.0/16,10.3.0.0/33' } },
    expect: { status: 400, code: 'invalid_argument', message: /^prefixes: "10\.3\.0\.0\/33" has a wrong length/ },
    afterwards: unchanged,
  },
  {
    operation: 'netgroup.set',
    rule: 'says not found for one that is not there',
    as: 'operator',
    send: { method: 'PUT', path: `${NETGROUPS}/away`, body: { prefixes: '10.2.0.0/16' } },
    expect: { status: 404, code: 'not_found', message: /^There is no netgroup away\.$/ },
    afterwards: none,
  },
];

const REMOVALS: readonly Scenario[] = [
  {
    operation: 'netgroup.remove',
    rule: 'removes the group without a body',
    given: add,
    as: 'operator',
    send: { method: 'DELETE', path: `${NETGROUPS}/dc-eu` },
    expect: { status: 204, text: /^$/ },
    afterwards: none,
  },
  {
    operation: 'netgroup.remove',
    rule: 'says not found for one that is not there',
    as: 'operator',
    send: { method: 'DELETE', path: `${NETGROUPS}/dc-eu` },
    expect: { status: 404, code: 'not_found' },
  },
];

export const NETGROUP_SCENARIOS: readonly Scenario[] = [...LISTS, ...ADDS, ...REFUSALS, ...SETS, ...REMOVALS];
