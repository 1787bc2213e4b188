import assert from 'node:assert/strict';
import { EVENT_LIMITS } from '../../../src/domain/events/event.ts';
import { insertRule, type NewRule } from '../../../src/store/rules/rules.ts';
import type { Program } from '../../support/program.ts';
import { type Received, type Scenario, type Sending, send } from '../../support/scenario.ts';

export const REQUESTS = '/api/v1/hosts/self/requests';

/** A rule that runs a command for the request `clean`. */
export async function rule(program: Program, some: Partial<NewRule> = {}): Promise<Readonly<Record<string, string>>> {
  const action = { kind: 'command', command: ['true'], inventory: 'localhost', limit: null, timeout: null } as const;
  const settings = {
    cooldownMs: null,
    approval: 'none',
    approvalTtlMs: null,
    owners: ['root'],
    addedBy: 'root',
  } as const;
  const row: NewRule = {
    name: 'clean',
    when: 'event.source == "host" && event.name == "clean"',
    action,
    ...settings,
    ...some,
  };
  await program.store.write((tx) => insertRule(tx, row));
  return {};
}

export interface HostAnswer {
  readonly event_id: string;
  readonly outcome: string;
  readonly reason: string;
  readonly job_id: string | null;
  readonly approval_id: string | null;
  readonly job_state?: string;
  readonly exit_code?: number;
}

export function dataOf(received: Pick<Received, 'json'>): HostAnswer {
  return (received.json as { data: HostAnswer }).data;
}

function ask(body: unknown, rest: Partial<Sending> = {}): Sending {
  return { method: 'POST', path: REQUESTS, body, ...rest };
}

async function nothing(program: Program): Promise<void> {
  assert.deepEqual(await program.store.db.selectFrom('events').select('id').execute(), []);
}

const MADE: readonly Scenario[] = [
  {
    operation: 'host.request',
    rule: 'that no rule matches is in the ledger as ignored, and answers both ids as null and no state',
    as: 'host',
    send: ask({
      request: 'clean',
      reason: 'the disk is full',
      status: 'firing',
      metadata: { disk: '/var', percent: 97, urgent: true },
    }),
    expect: { status: 200, kind: 'host.request', data: { outcome: 'ignored', job_id: null, approval_id: null } },
    expectNot: ['job_state', 'exit_code'],
    async afterwards(program, _given, body) {
      const { event_id: id } = dataOf({ json: body });
      const row = await program.store.db
        .selectFrom('events')
        .selectAll()
        .where('id', '=', id)
        .executeTakeFirstOrThrow();
      const { name: host } = await program.store.db
        .selectFrom('tokens')
        .select('name')
        .where('scope', '=', 'host')
        .executeTakeFirstOrThrow();
      assert.deepEqual([row.source, row.name, row.status], ['host', 'clean', 'firing']);
      const labels = {
        host,
        request: 'clean',
        status: 'firing',
        'metadata.disk': '/var',
        'metadata.percent': '97',
        'metadata.urgent': 'true',
      };
      assert.deepEqual(JSON.parse(row.labels), labels);
      assert.deepEqual(JSON.parse(row.annotations), { reason: 'the disk is full' });
    },
  },
  {
    operation: 'host.request',
    rule: 'that a rule matches queues its job at once and does not wait for it',
    given: (program) => rule(program),
    as: 'host',
    send: ask({ request: 'clean' }),
    expect: { status: 202, kind: 'host.request', data: { outcome: 'fired', approval_id: null } },
    expectNot: ['job_state', 'exit_code'],
    async afterwards(program, _given, body) {
      const { job_id: id } = dataOf({ json: body });
      const job = await program.store.db
        .selectFrom('jobs')
        .selectAll()
        .where('id', '=', id ?? '')
        .executeTakeFirstOrThrow();
      assert.deepEqual([job.state, job.trigger, job.runbook], ['queued', 'host', 'rule:clean']);
      // Who owns the token of the host may not approve what it asked for.
      assert.ok((JSON.parse(job.owners) as string[]).includes('host'));
    },
  },
  {
    operation: 'host.request',
    rule: 'that needs approval also answers the approval',
    given: (program) => rule(program, { approval: 'required' }),
    as: 'host',
    send: ask({ request: 'clean' }),
    expect: { status: 202, kind: 'host.request', data: { outcome: 'gated' } },
    async afterwards(_program, _given, body) {
      assert.match(dataOf({ json: body }).job_id ?? '', /^job_/);
      assert.match(dataOf({ json: body }).approval_id ?? '', /^apr_/);
    },
  },
  {
    operation: 'host.request',
    rule: 'with wait that made no job is answered at once, without the state of a job',
    as: 'host',
    send: ask({ request: 'clean' }, { path: `${REQUESTS}?wait=1&timeout=5m` }),
    expect: { status: 200, kind: 'host.request', data: { outcome: 'ignored', job_id: null } },
    expectNot: ['job_state', 'exit_code'],
  },
  {
    operation: 'host.request',
    rule: 'with wait whose approval is not decided is pending at its deadline',
    given: (program) => rule(program, { approval: 'required' }),
    as: 'host',
    send: ask({ request: 'clean' }, { path: `${REQUESTS}?wait=true&timeout=50ms` }),
    expect: { status: 202, kind: 'host.request', data: { outcome: 'gated', job_state: 'pending' } },
    expectNot: ['exit_code'],
  },
  {
    operation: 'host.request',
    rule: 'takes the identity of the host from its token, whatever the metadata says',
    as: 'host',
    send: ask({ request: 'clean', metadata: { host: 'db1' } }),
    expect: { status: 200, kind: 'host.request' },
    async afterwards(program) {
      const { labels } = await program.store.db.selectFrom('events').select('labels').executeTakeFirstOrThrow();
      const { host, 'metadata.host': claimed } = JSON.parse(labels) as Record<string, string>;
      assert.match(host ?? '', /^host-/);
      assert.equal(claimed, 'db1');
    },
  },
];

const KEYS: readonly Scenario[] = [
  {
    operation: 'host.request',
    rule: 'that made no job answers a repeat with its key as it first did, also when a rule would match by now',
    async given(program) {
      const first = await send(program, 'host', ask({ request: 'clean' }, { headers: { 'idempotency-key': 'k' } }));
      await rule(program);
      return { first: dataOf(first).event_id };
    },
    as: 'host',
    send: ask({ request: 'clean' }, { headers: { 'idempotency-key': 'k' }, path: `${REQUESTS}?wait=true` }),
    expect: { status: 200, kind: 'host.request', data: { outcome: 'ignored', job_id: null } },
    async afterwards(program, { first }, body) {
      assert.equal(dataOf({ json: body }).event_id, first);
      assert.equal((await program.store.db.selectFrom('events').select('id').execute()).length, 1);
    },
  },
  {
    operation: 'host.request',
    rule: 'with wait and the key of a request that did not wait tells how the original job ended',
    async given(program) {
      await rule(program);
      const first = dataOf(
        await send(program, 'host', ask({ request: 'clean' }, { headers: { 'idempotency-key': 'k' } })),
      );
      await program.claim();
      await program.finish(first.job_id ?? '', { state: 'failed', exitCode: 3 });
      return { job: first.job_id ?? '' };
    },
    as: 'host',
    send: ask({ request: 'other' }, { headers: { 'idempotency-key': 'k' }, path: `${REQUESTS}?wait=true` }),
    expect: { status: 200, kind: 'host.request', data: { outcome: 'fired', job_state: 'failed', exit_code: 3 } },
    async afterwards(_program, { job }, body) {
      assert.equal(dataOf({ json: body }).job_id, job);
    },
  },
  {
    operation: 'command.run',
    rule: 'is not held up by a key under which the same owner asked as a host for what made no job',
    async given(program) {
      const token = await program.token('host', { owner: 'operator' });
      const headers = { authorization: `Bearer ${token}`, 'idempotency-key': 'k' };
      const { json } = await send(program, 'nobody', ask({ request: 'clean' }, { headers }));
      return { event: dataOf({ json }).event_id };
    },
    as: 'operator',
    send: {
      method: 'POST',
      path: '/api/v1/commands/run',
      headers: { 'idempotency-key': 'k' },
      body: { inventory: 'localhost', command: ['true'] },
    },
    expect: { status: 202, kind: 'job.enqueued' },
    expectNot: ['$event'],
  },
];

const long = 'x'.repeat(EVENT_LIMITS.valueCharacters + 1);
const many = Object.fromEntries(Array.from({ length: 33 }, (_each, n) => [`k${n}`, 'v']));

/** What is refused with 400, and what the message has to say. */
const REFUSED: readonly (readonly [rule: string, body: unknown, message: RegExp, query?: string])[] = [
  ['no request', {}, /^request: this field is required/],
  ['an empty request', { request: '' }, /^request: expected a name/],
  ['a request with a line end', { request: 'clean\nup' }, /^request: expected a name/],
  [
    'a request that is too long',
    { request: 'x'.repeat(EVENT_LIMITS.nameCharacters + 1) },
    /^request: expected at most 200 characters/,
  ],
  [
    'T52: a value of metadata that is too long',
    { request: 'clean', metadata: { note: long } },
    /^metadata\.note: expected at most 2000 characters/,
  ],
  [
    'T52: more metadata than an event may have',
    { request: 'clean', metadata: many },
    /^metadata: expected at most 32 entries/,
  ],
  ['a name of metadata with a blank', { request: 'clean', metadata: { 'a b': '1' } }, /expected names of 1 to 64/],
  ['metadata within metadata', { request: 'clean', metadata: { deep: {} } }, /^metadata\.deep: expected text/],
  ['a host in the body', { request: 'clean', host: 'db1' }, /"host": no such field/],
  ['a wait in the body', { request: 'clean', wait: true }, /"wait": no such field/],
  [
    'a timeout over 5 minutes, naming the maximum',
    { request: 'clean' },
    /^timeout: expected at least 1ms and at most 5m\./,
    '?wait=true&timeout=5m1s',
  ],
  ['a timeout over 5 minutes without wait, too', { request: 'clean' }, /^timeout: .*at most 5m\./, '?timeout=1h'],
  ['a timeout that is no duration', { request: 'clean' }, /^timeout: expected a duration/, '?wait=true&timeout=60'],
  ['a wait that is neither true nor false', { request: 'clean' }, /^wait: expected true or false/, '?wait=yes'],
];

const REFUSALS: readonly Scenario[] = REFUSED.map(([what, body, message, query = '']) => ({
  operation: 'host.request',
  rule: `refuses ${what}, and nothing is written`,
  as: 'host',
  send: ask(body, { path: REQUESTS + query }),
  expect: { status: 400, code: 'invalid_argument', message },
  afterwards: nothing,
}));

export const HOST_SCENARIOS: readonly Scenario[] = [...MADE, ...KEYS, ...REFUSALS];
