import assert from 'node:assert/strict';
import { CHECK_LIMITS } from '../../../../src/domain/checks/target.ts';
import type { Program } from '../../../support/program.ts';
import type { Scenario } from '../../../support/scenario.ts';

/** Bodies that create no check. */

export const CHECKS = '/api/v1/checks';
export const WEB = {
  name: 'web',
  kind: 'tcp',
  interval: '30s',
  targets: ['web1=10.0.0.5:443', 'web2=[2001:DB8::5]:80'],
};
export const METRIC = { name: 'load', kind: 'metric', interval: '1m', targets: ['a=http://10.0.0.5/load'] };

export async function noCheck({ store }: Program): Promise<void> {
  assert.deepEqual(await store.db.selectFrom('checks').selectAll().execute(), []);
  assert.deepEqual(await store.db.selectFrom('check_targets').selectAll().execute(), []);
}

const refusedAdd = (rule: string, some: object, message: RegExp, not: readonly string[] = []): Scenario => ({
  operation: 'check.add',
  rule,
  as: 'operator',
  send: { method: 'POST', path: CHECKS, body: { ...WEB, ...some } },
  expect: { status: 400, code: 'invalid_argument', message },
  expectNot: not,
  afterwards: noCheck,
});

export const REFUSED_CHECKS: readonly Scenario[] = [
  refusedAdd(
    'refuses a field of another kind by its name',
    { min_days: 3 },
    /^min_days: a check of kind tcp does not have/,
  ),
  refusedAdd('refuses a field that no kind has', { port: 3 }, /^"port": no such field here/),
  refusedAdd('refuses an unknown kind', { kind: 'udp' }, /^kind: expected one of tcp, tls, ping, http, dns, metric\.$/),
  refusedAdd('refuses a bad name', { name: 'Web' }, /^name: expected 1 to 63/),
  refusedAdd('refuses a short interval', { interval: '999ms' }, /^interval: expected at least 1s and at most 1d\.$/),
  refusedAdd('refuses a long interval', { interval: '25h' }, /^interval: expected at least 1s and at most 1d\.$/),
  refusedAdd('refuses an interval that is no duration', { interval: '30' }, /^interval: expected a duration such as/),
  refusedAdd('refuses a check without an interval', { interval: undefined }, /^interval: this field is required/),
  refusedAdd('refuses a check without targets', { targets: [] }, /^targets: expected at least one target\.$/),
  refusedAdd(
    'refuses one target more than the maximum',
    { targets: Array.from({ length: CHECK_LIMITS.targets + 1 }, (_, at) => `t${at}=10.0.0.5:443`) },
    /^targets: expected at most 10000 targets\.$/,
  ),
  refusedAdd(
    'refuses a bad target by its place',
    { targets: ['a=10.0.0.5:443', 'b=x'] },
    /^targets\.1: b: expected NAME=IP:PORT/,
  ),
  refusedAdd(
    'refuses two targets of one name',
    { targets: ['a=10.0.0.5:1', 'a=10.0.0.5:2'] },
    /^targets\.1: the name a is used/,
  ),
  refusedAdd(
    'repeats nothing of a refused URL',
    { kind: 'http', targets: ['https://u:geheim@h/?a=b', 'a=ftp://u:geheim@h/'] },
    /^targets\.0: expected a name/,
    ['geheim'],
  ),
  refusedAdd(
    'refuses a metric without a value',
    { ...METRIC, op: '<' },
    /^op, value: required for a check of kind metric/,
  ),
  refusedAdd(
    'refuses a pointer of another form',
    { ...METRIC, op: '<', value: 1, pointer: 'a/b' },
    /^pointer: expected a JSON/,
  ),
  refusedAdd(
    'refuses an address that is malformed',
    { kind: 'dns', targets: ['a=h'], expect_addr: 'h' },
    /^expect_addr: expected an IP/,
  ),
  refusedAdd(
    'refuses a status that does not exist',
    { kind: 'http', targets: ['a=http://h'], expect: 99 },
    /^expect: expected a status/,
  ),
];
