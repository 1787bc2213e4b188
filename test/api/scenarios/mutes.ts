import assert from 'node:assert/strict';
import { insertEvent } from '../../../src/store/events/events.ts';
import { newId } from '../../../src/lib/id.ts';
import { toJson } from '../../../src/lib/json.ts';
import { insertMute } from '../../../src/store/rules/mutes.ts';
import type { MuteRow } from '../../../src/store/schema/schema.ts';
import type { Program } from '../../support/program.ts';
import { type Scenario, send } from '../../support/scenario.ts';
import { REFUSED_MUTES } from './refused-mutes.ts';

const MUTES = '/api/v1/mutes';
const UNKNOWN = 'mute_00000000000000000000000000';

/** A row, which a request could not make where its time has passed. */
async function put(program: Program, some: Partial<MuteRow> = {}): Promise<Readonly<Record<string, string>>> {
  const row = await program.store.write(async (tx) => {
    const made = {
      created_via: 'api',
      created_by: 'operator',
      created_at: tx.now,
      expires_at: tx.now + 60_000,
      ended_at: null,
    };
    const mute: MuteRow = {
      id: newId('mute', tx.now),
      scope_kind: 'alert',
      scope_value: 'DiskFull',
      reason: null,
      ...made,
      ...some,
    };
    await insertMute(tx, mute);
    return mute;
  });
  return { id: row.id };
}

async function fires(program: Program, status: 'firing' | 'resolved'): Promise<void> {
  await program.store.write((tx) => {
    const facts = {
      source: 'alertmanager',
      name: 'DiskFull',
      status,
      netgroup: null,
      severity: null,
      fingerprint: 'f1',
      labels: toJson({}),
      annotations: toJson({}),
    };
    const end = { outcome: 'ignored', reason: 'made by a test', rule: null, job_id: null, approval_id: null } as const;
    const rest = { received_at: tx.now, check_observations: null, trace: toJson([]), depth: 0 };
    insertEvent(tx, { id: newId('evt', tx.now), ...facts, ...end, ...rest });
    return Promise.resolve();
  });
}

async function muteEvents(program: Program): Promise<object[]> {
  const rows = await program.store.db
    .selectFrom('events')
    .select(['name', 'labels', 'outcome'])
    .where('source', '=', 'mute')
    .execute();
  return rows.map((row) => ({ ...row }));
}

async function noRow(program: Program): Promise<void> {
  assert.deepEqual(await program.store.db.selectFrom('mutes').selectAll().execute(), []);
}

const LISTS: readonly Scenario[] = [
  {
    operation: 'mute.list',
    rule: 'is an empty list where nothing is held, never absent',
    as: 'readonly',
    send: { method: 'GET', path: MUTES },
    expect: { status: 200, kind: 'mute.list', text: /"data":\[\]\}\n$/ },
  },
  {
    operation: 'mute.list',
    rule: 'holds what is active, newest first, in the fields of the contract and without who made it',
    async given(program) {
      await put(program);
      await put(program, { expires_at: 1 });
      const young = await put(program, { scope_kind: 'global', scope_value: null, reason: 'a holiday' });
      return { young: young['id'] ?? '' };
    },
    as: 'readonly',
    send: { method: 'GET', path: MUTES },
    expect: {
      status: 200,
      kind: 'mute.list',
      data: [
        { scope_kind: 'global', scope_value: null, reason: 'a holiday' },
        { scope_value: 'DiskFull', reason: null },
      ],
    },
    expectNot: ['created_by', 'created_at', 'ended_at'],
    async afterwards(_program, { young }, body) {
      const { data } = body as { data: { id: string }[] };
      assert.equal(data.length, 2);
      assert.equal(data[0]?.id, young);
      assert.deepEqual(Object.keys(data[0] ?? {}), [
        'id',
        'scope_kind',
        'scope_value',
        'reason',
        'created_via',
        'expires_at',
      ]);
    },
  },
  {
    operation: 'mute.list',
    rule: 'has with all=true what has ended by its time, too',
    given: (program) => put(program, { expires_at: 1, ended_at: 2 }),
    as: 'approve',
    send: { method: 'GET', path: `${MUTES}?all=true` },
    expect: { status: 200, kind: 'mute.list', data: [{ expires_at: '1970-01-01T00:00:00.001Z' }] },
  },
  {
    operation: 'mute.list',
    rule: 'T53: is sent in pages where it is long, each mute once',
    async given(program) {
      for (let n = 0; n < 520; n += 20) await Promise.all(Array.from({ length: 20 }, () => put(program)));
      return {};
    },
    as: 'readonly',
    send: { method: 'GET', path: MUTES },
    expect: { status: 200, kind: 'mute.list' },
    async afterwards(_program, _given, body) {
      assert.equal(new Set((body as { data: { id: string }[] }).data.map(({ id }) => id)).size, 520);
    },
  },
];

const ADDS: readonly Scenario[] = [
  {
    operation: 'mute.add',
    rule: 'answers the mute, which is then in the list',
    as: 'operator',
    send: {
      method: 'POST',
      path: MUTES,
      body: { scope_kind: 'alert', scope_value: 'DiskFull', reason: 'new disks', for: '2h' },
    },
    expect: {
      status: 200,
      kind: 'mute.get',
      data: { scope_kind: 'alert', scope_value: 'DiskFull', reason: 'new disks', created_via: 'api' },
    },
    async afterwards(program, _given, body) {
      const { data } = body as { data: { id: string; expires_at: string } };
      const left = Date.parse(data.expires_at) - Date.now();
      assert.ok(left > 7_100_000 && left <= 7_200_000, `it ends in ${left} ms`);
      const { json } = await send(program, 'readonly', { method: 'GET', path: MUTES });
      assert.deepEqual((json as { data: unknown[] }).data, [data]);
    },
  },
  {
    operation: 'mute.add',
    rule: 'takes a time with any offset, and tells it in UTC',
    as: 'operator',
    send: {
      method: 'POST',
      path: MUTES,
      body: { scope_kind: 'host', scope_value: 'db1', expires_at: '2099-01-01T02:00:00+02:00' },
    },
    expect: {
      status: 200,
      kind: 'mute.get',
      data: { scope_kind: 'host', reason: null, expires_at: '2099-01-01T00:00:00.000Z' },
    },
  },
  {
    operation: 'mute.add',
    rule: 'takes a global scope with an empty value as one without',
    as: 'operator',
    send: { method: 'POST', path: MUTES, body: { scope_kind: 'global', scope_value: '', for: '1m' } },
    expect: { status: 200, kind: 'mute.get', data: { scope_kind: 'global', scope_value: null } },
  },
  {
    operation: 'mute.add',
    rule: 'answers a repeat with the same key as the first time and makes no second',
    async given(program) {
      const first = await send(program, 'operator', {
        method: 'POST',
        path: MUTES,
        headers: { 'idempotency-key': 'k' },
        body: { scope_kind: 'global', for: '1h' },
      });
      return { first: (first.json as { data: { id: string } }).data.id };
    },
    as: 'operator',
    send: {
      method: 'POST',
      path: MUTES,
      headers: { 'idempotency-key': 'k' },
      body: { scope_kind: 'global', for: '2h' },
    },
    expect: { status: 200, kind: 'mute.get' },
    async afterwards(program, { first }, body) {
      assert.equal((body as { data: { id: string } }).data.id, first);
      assert.equal((await program.store.db.selectFrom('mutes').selectAll().execute()).length, 1);
    },
  },
  {
    operation: 'mute.add',
    rule: 'T09: refuses a browser session, and nothing is written',
    as: 'session',
    send: { method: 'POST', path: MUTES, body: { scope_kind: 'global', for: '1h' } },
    expect: { status: 403, code: 'forbidden', message: /bearer token/ },
    afterwards: noRow,
  },
];

const REFUSALS: readonly Scenario[] = REFUSED_MUTES.map(([rule, body, message]) => ({
  operation: 'mute.add',
  rule: `refuses ${rule}`,
  as: 'operator',
  send: { method: 'POST', path: MUTES, body },
  expect: { status: 400, code: 'invalid_argument', message },
  afterwards: noRow,
}));

const REMOVALS: readonly Scenario[] = [
  {
    operation: 'mute.remove',
    rule: 'removes the mute without a body; what it muted no longer fires, so there is no event',
    async given(program) {
      await fires(program, 'firing');
      await fires(program, 'resolved');
      return put(program);
    },
    as: 'operator',
    send: { method: 'DELETE', path: `${MUTES}/$id` },
    expect: { status: 204, text: /^$/ },
    async afterwards(program) {
      await noRow(program);
      assert.deepEqual(await muteEvents(program), []);
    },
  },
  {
    operation: 'mute.remove',
    rule: 'makes an event where what it muted still fires',
    async given(program) {
      await fires(program, 'firing');
      return put(program);
    },
    as: 'operator',
    send: { method: 'DELETE', path: `${MUTES}/$id` },
    expect: { status: 204 },
    async afterwards(program, { id }) {
      assert.deepEqual(await muteEvents(program), [
        { name: 'DiskFull', labels: JSON.stringify({ id }), outcome: 'ignored' },
      ]);
    },
  },
  {
    operation: 'mute.remove',
    rule: 'says not found for one that is not there',
    as: 'operator',
    send: { method: 'DELETE', path: `${MUTES}/${UNKNOWN}` },
    expect: { status: 404, code: 'not_found' },
  },
  {
    operation: 'mute.remove',
    rule: 'says malformed for what is no id of a mute',
    as: 'operator',
    send: { method: 'DELETE', path: `${MUTES}/job_00000000000000000000000000` },
    expect: { status: 400, code: 'invalid_argument', message: /^id: expected an id of the form mute_/ },
  },
  {
    operation: 'mute.remove',
    rule: 'T09: refuses a browser session, and the mute stays',
    given: (program) => put(program),
    as: 'session',
    send: { method: 'DELETE', path: `${MUTES}/$id` },
    expect: { status: 403, code: 'forbidden' },
    async afterwards(program, { id }) {
      assert.deepEqual(
        (await program.store.db.selectFrom('mutes').select('id').execute()).map((row) => row.id),
        [id],
      );
    },
  },
];

export const MUTE_SCENARIOS: readonly Scenario[] = [...LISTS, ...ADDS, ...REFUSALS, ...REMOVALS];
