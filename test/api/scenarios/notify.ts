import assert from 'node:assert/strict';
import { newId } from '../../../src/lib/id.ts';
import { insertEndpoint } from '../../../src/store/notify/endpoints.ts';
import type { Program } from '../../support/program.ts';
import { type Scenario, send } from '../../support/scenario.ts';

const path = '/api/v1/notify/endpoints';
const PUBLIC = 'https://93.184.215.14/up/abc';
const KEYS = {
  p256dh: 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
  auth: 'BTBZMqHH6r4Tts7J_aSIgg',
};

/** Registers `count` endpoints of another token. */
async function others(
  program: Program,
  tokenId: string = newId('tok', Date.now()),
  count = 1,
): Promise<Readonly<Record<string, string>>> {
  const id = newId('ep', Date.now());
  await program.store.write(async (tx) => {
    for (let i = 0; i < count; i += 1) {
      await insertEndpoint(tx, {
        id: i === 0 ? id : newId('ep', tx.now),
        token_id: tokenId,
        owner: 'other',
        endpoint: `https://93.184.215.14/${i}`,
        label: null,
        p256dh: null,
        auth: null,
      });
    }
  });
  return { id };
}

const idOf = (token: string): string => `tok_${token.split('_')[1] ?? ''}`;

async function rows(program: Program): Promise<number> {
  return (await program.store.db.selectFrom('endpoints').select('id').execute()).length;
}

export const NOTIFY_SCENARIOS: readonly Scenario[] = [
  {
    operation: 'notify.endpoint.add',
    rule: 'answers the endpoint without anything of the token; who registers it lists and drops it',
    as: 'operator',
    send: { method: 'POST', path, body: { endpoint: PUBLIC, label: 'phone', keys: KEYS } },
    expect: { status: 200, kind: 'notify.endpoint', data: { endpoint: PUBLIC, label: 'phone' } },
    expectNot: [KEYS.p256dh, KEYS.auth, 'token'],
    async afterwards(program, _given, body) {
      const { data } = body as { data: { id: string; created_at: string } };
      assert.deepEqual(Object.keys(data), ['id', 'endpoint', 'label', 'created_at']);
      const listed = await send(program, 'operator', { method: 'GET', path });
      assert.deepEqual((listed.json as { data: object[] }).data, [data]);
      const dropped = await send(program, 'operator', { method: 'DELETE', path: `${path}/${data.id}` });
      assert.equal(dropped.status, 204);
      assert.equal(await rows(program), 0);
      const ledger = await program.store.db.selectFrom('ledger').select('detail').execute();
      assert.ok(!JSON.stringify(ledger).includes('93.184'), 'the ledger contains the URL, which is a capability');
    },
  },
  ...[
    'https://127.0.0.1/a',
    'https://10.0.0.1/a',
    'https://[fd00::1]/a',
    'https://169.254.169.254/latest',
    'https://224.0.0.1/',
    'https://0.0.0.0/',
    'http://93.184.215.14/',
    'https://u:p@93.184.215.14/',
    'https://93.184.215.14:22/',
  ].map((endpoint): Scenario => ({
    operation: 'notify.endpoint.add',
    rule: `T36: refuses ${endpoint}, and keeps nothing`,
    as: 'operator',
    send: { method: 'POST', path, body: { endpoint } },
    expect: { status: 400, code: 'invalid_argument', message: /^endpoint: / },
    afterwards: async (program) => assert.equal(await rows(program), 0),
  })),
  ...[`${PUBLIC}#f`, `${PUBLIC}#`, 'https://93.184.215.14#f'].map((endpoint): Scenario => ({
    operation: 'notify.endpoint.add',
    rule: `refuses the fragment of ${endpoint}, with which one place would be two endpoints`,
    as: 'operator',
    send: { method: 'POST', path, body: { endpoint } },
    expect: { status: 400, code: 'invalid_argument', message: /^endpoint: the URL must not have a fragment/ },
    afterwards: async (program) => assert.equal(await rows(program), 0),
  })),
  {
    operation: 'notify.endpoint.add',
    rule: 'refuses invalid keys',
    as: 'operator',
    send: { method: 'POST', path, body: { endpoint: PUBLIC, keys: { ...KEYS, auth: 'AAAA' } } },
    expect: { status: 400, code: 'invalid_argument', message: /^keys\.auth: expected 16 bytes/ },
  },
  {
    operation: 'notify.endpoint.add',
    rule: 'is 409 for a token that has 20',
    given: (program) => others(program, idOf(program.tokens.operator), 20),
    as: 'operator',
    send: { method: 'POST', path, body: { endpoint: PUBLIC } },
    expect: { status: 409, code: 'conflict', message: /20 endpoints/ },
    afterwards: async (program) => assert.equal(await rows(program), 20),
  },
  {
    operation: 'notify.endpoint.add',
    rule: 'T09: wants a bearer token, not a session',
    as: 'session',
    send: { method: 'POST', path, body: { endpoint: PUBLIC } },
    expect: { status: 403, code: 'forbidden' },
  },
  {
    operation: 'notify.endpoint.list',
    rule: 'shows nothing of other tokens',
    given: (program) => others(program),
    as: 'operator',
    send: { method: 'GET', path },
    expect: { status: 200, kind: 'notify.endpoint.list', text: /"data":\[\]\}\n$/ },
  },
  {
    operation: 'notify.endpoint.remove',
    rule: "is 404 for another token's, which stays",
    given: (program) => others(program),
    as: 'operator',
    send: { method: 'DELETE', path: `${path}/$id` },
    expect: { status: 404, code: 'not_found' },
    afterwards: async (program) => assert.equal(await rows(program), 1),
  },
  {
    operation: 'job.notify',
    rule: 'arms a job once, however often it is asked, and runs nothing',
    given: async (program) => ({ job: await program.queue() }),
    as: 'operator',
    send: { method: 'POST', path: '/api/v1/jobs/$job/notify' },
    expect: { status: 200, kind: 'job.notify', data: { state: 'queued' } },
    async afterwards(program, { job = '' }, body) {
      const again = await send(program, 'operator', { method: 'POST', path: `/api/v1/jobs/${job}/notify` });
      assert.deepEqual(again.json, body);
      assert.equal((await program.store.db.selectFrom('armed_jobs').selectAll().execute()).length, 1);
    },
  },
  {
    operation: 'job.notify',
    rule: 'is 409 for a job that has ended',
    async given(program) {
      const job = await program.queue();
      await program.claim();
      await program.finish(job, { state: 'succeeded', exitCode: 0 });
      return { job };
    },
    as: 'operator',
    send: { method: 'POST', path: '/api/v1/jobs/$job/notify' },
    expect: { status: 409, code: 'conflict', message: /succeeded already/ },
  },
  {
    operation: 'job.notify',
    rule: 'is 404 for an unknown job',
    as: 'operator',
    send: { method: 'POST', path: '/api/v1/jobs/job_00000000000000000000000000/notify' },
    expect: { status: 404, code: 'not_found' },
  },
];
