import assert from 'node:assert/strict';
import { setSecret } from '../../../src/store/secrets/secrets.ts';
import type { Program } from '../../support/program.ts';
import { type Scenario, send } from '../../support/scenario.ts';

const CANARY = 'canary-value-of-a-secret';

async function set(program: Program, project: string, name: string): Promise<void> {
  const ring = await program.services.keyring();
  await program.store.write((tx) => setSecret(tx, ring, { project, name }, Buffer.from(CANARY)));
}

async function three(program: Program): Promise<Readonly<Record<string, string>>> {
  await set(program, 'net', 'token');
  await set(program, 'app', 'key');
  await set(program, 'net', 'token');
  return {};
}

const list = '/api/v1/secrets';
/** No field of the answer could hold a value, whatever its form. */
const NO_VALUE = [
  CANARY,
  Buffer.from(CANARY).toString('base64'),
  Buffer.from(CANARY).toString('hex'),
  'sealed',
  'key_id',
  '"value"',
  'R0hTMQ',
  'GHS1',
];

export const SECRET_SCENARIOS: readonly Scenario[] = [
  {
    operation: 'secret.list',
    rule: 'is an empty list where there is nothing, never absent',
    as: 'readonly',
    send: { method: 'GET', path: list },
    expect: { status: 200, kind: 'secret.list', text: /"data":\[\]\}\n$/ },
  },
  {
    operation: 'secret.list',
    rule: 'T55: holds names, versions and times, by project and name, and no field that a value could occupy',
    given: three,
    as: 'readonly',
    send: { method: 'GET', path: list },
    expect: {
      status: 200,
      kind: 'secret.list',
      data: [
        { project: 'app', name: 'key', version: 1 },
        { project: 'net', name: 'token', version: 2 },
      ],
    },
    expectNot: NO_VALUE,
    async afterwards(_program, _given, body) {
      const { data } = body as { data: object[] };
      assert.deepEqual(
        data.map((each) => Object.keys(each)),
        Array.from({ length: 2 }, () => ['project', 'name', 'version', 'created_at', 'updated_at']),
      );
    },
  },
  {
    operation: 'secret.list',
    rule: 'shows a secret that was set since the last answer',
    given: three,
    as: 'approve',
    send: { method: 'GET', path: list },
    expect: { status: 200, kind: 'secret.list' },
    async afterwards(program, _given, body) {
      assert.equal((body as { data: object[] }).data.length, 2);
      await set(program, 'net', 'other');
      const again = await send(program, 'approve', { method: 'GET', path: list });
      assert.equal((again.json as { data: object[] }).data.length, 3);
    },
  },
  {
    operation: 'secret.list',
    rule: 'is not for a host token',
    given: three,
    as: 'host',
    send: { method: 'GET', path: list },
    expect: { status: 403, code: 'forbidden' },
    expectNot: ['token"', ...NO_VALUE],
  },
  {
    operation: 'secret.list',
    rule: 'takes no parameter: it answers all or nothing',
    as: 'readonly',
    send: { method: 'GET', path: `${list}?project=net` },
    expect: { status: 400, code: 'invalid_argument', message: /"project"/ },
  },
  {
    operation: 'secret.list',
    rule: 'is the only thing that a server does with secrets: none is set over the network',
    as: 'operator',
    send: { method: 'POST', path: list, body: { secret: 'net/token', value: CANARY } },
    expect: { status: 404, code: 'not_found' },
    expectNot: [CANARY],
    async afterwards(program) {
      assert.equal(await program.store.db.selectFrom('secrets').selectAll().executeTakeFirst(), undefined);
    },
  },
];
