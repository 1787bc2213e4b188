import assert from 'node:assert/strict';
import { ASKER, gated, type MadeApproval, moveState, planView, SERIAL } from '../../support/fixtures/approvals.ts';
import type { Program } from '../../support/program.ts';
import { type Scenario, send } from '../../support/scenario.ts';

export const UNKNOWN = 'apr_00000000000000000000000000';

export function waiting(some: MadeApproval = {}): NonNullable<Scenario['given']> {
  return (program) => gated(program, some);
}

export async function decided(program: Program): Promise<Readonly<Record<string, string>>> {
  const given = await gated(program);
  await send(program, 'approve', {
    method: 'POST',
    path: `/api/v1/approvals/${given.apr}/decision`,
    body: { decision: 'reject', reason: 'not now' },
  });
  return given;
}

export async function stale(program: Program): Promise<Readonly<Record<string, string>>> {
  const given = await gated(program);
  await moveState(program.store, SERIAL + 2, { byJob: given.job, via: 'api' });
  return given;
}

const LISTS: readonly Scenario[] = [
  {
    operation: 'approval.list',
    rule: 'is an empty list where nothing waits, never absent',
    as: 'readonly',
    send: { method: 'GET', path: '/api/v1/approvals' },
    expect: { status: 200, kind: 'approval.list', text: /"data":\[\]\}\n$/ },
  },
  {
    operation: 'approval.list',
    rule: 'holds what waits, newest first, without who else is in the chain or what the job is given',
    async given(program) {
      const old = await gated(program, { owners: ['root', ASKER] });
      const young = await gated(program, { planned: false });
      return { old: old.apr, young: young.apr };
    },
    as: 'readonly',
    send: { method: 'GET', path: '/api/v1/approvals' },
    expect: {
      status: 200,
      kind: 'approval.list',
      data: [{ state: 'pending', requested_by: ASKER, decided_at: null }, { workspace: 'net' }],
    },
    expectNot: ['owners', 'root', 'plan_digest', 'stale', 'provenance'],
    async afterwards(_program, { old, young }, body) {
      const { data } = body as { data: { id: string }[] };
      assert.deepEqual(
        data.map(({ id }) => id),
        [young, old],
      );
    },
  },
  {
    operation: 'approval.list',
    rule: 'leaves out what is decided',
    given: decided,
    as: 'operator',
    send: { method: 'GET', path: '/api/v1/approvals?all=false' },
    expect: { status: 200, kind: 'approval.list', text: /"data":\[\]\}\n$/ },
  },
  {
    operation: 'approval.list',
    rule: 'has what is decided with all=true, and how',
    given: decided,
    as: 'approve',
    send: { method: 'GET', path: '/api/v1/approvals?all=true' },
    expect: {
      status: 200,
      kind: 'approval.list',
      data: [{ state: 'rejected', decided_via: 'api', reason: 'not now' }],
    },
  },
  {
    operation: 'approval.list',
    rule: 'refuses an all that is neither true nor false',
    as: 'readonly',
    send: { method: 'GET', path: '/api/v1/approvals?all=maybe' },
    expect: { status: 400, code: 'invalid_argument', message: /^all: expected true or false/ },
  },
  {
    operation: 'approval.list',
    rule: 'T53: is sent in pages where it is long, each approval once',
    async given(program) {
      for (let n = 0; n < 520; n += 20)
        await Promise.all(Array.from({ length: 20 }, () => gated(program, { planned: false })));
      return {};
    },
    as: 'readonly',
    send: { method: 'GET', path: '/api/v1/approvals' },
    expect: { status: 200, kind: 'approval.list' },
    async afterwards(_program, _given, body) {
      const ids = (body as { data: { id: string }[] }).data.map(({ id }) => id);
      assert.equal(new Set(ids).size, 520);
      assert.deepEqual(ids, ids.toSorted().toReversed());
    },
  },
];

const GETS: readonly Scenario[] = [
  {
    operation: 'approval.get',
    rule: 'has no stale block while the plan holds',
    given: waiting(),
    as: 'readonly',
    send: { method: 'GET', path: '/api/v1/approvals/$apr' },
    expect: {
      status: 200,
      kind: 'approval.get',
      data: { state: 'pending', kind: 'apply', runbook: 'apply:net', provenance: { origin: 'manual' } },
    },
    expectNot: ['"stale"', '"alert"', '"rule"', '"matched_at"'],
  },
  {
    operation: 'approval.get',
    rule: 'tells who moved the state past the plan',
    given: stale,
    as: 'readonly',
    send: { method: 'GET', path: '/api/v1/approvals/$apr' },
    expect: {
      status: 200,
      kind: 'approval.get',
      data: { stale: { plan_serial: SERIAL, current_serial: SERIAL + 2, moved_via: 'api' } },
    },
    async afterwards(_program, { job }, body) {
      const { stale: block } = (body as { data: { stale: Record<string, unknown> } }).data;
      assert.deepEqual(Object.keys(block), ['plan_serial', 'current_serial', 'moved_by_job', 'moved_via', 'moved_at']);
      assert.equal(block['moved_by_job'], job);
    },
  },
  {
    operation: 'approval.get',
    rule: 'leaves the mover out where it is outside of the service',
    async given(program) {
      const given = await gated(program);
      await moveState(program.store, SERIAL + 1);
      return given;
    },
    as: 'readonly',
    send: { method: 'GET', path: '/api/v1/approvals/$apr' },
    expect: {
      status: 200,
      kind: 'approval.get',
      text: new RegExp(`"stale":\\{"plan_serial":${SERIAL},"current_serial":${SERIAL + 1}\\}`),
    },
  },
  {
    operation: 'approval.get',
    rule: 'tells which alert and rule asked',
    given: waiting({
      planned: false,
      origin: 'alert',
      alert: 'evt_01m7yd4zyke00anp2z332d2j5p',
      rule: 'disk-full',
      matched_at: Date.UTC(2026, 10, 21),
    }),
    as: 'readonly',
    send: { method: 'GET', path: '/api/v1/approvals/$apr' },
    expect: {
      status: 200,
      kind: 'approval.get',
      text: new RegExp(
        String.raw`"provenance":\{"origin":"alert","alert":"evt_01m7yd4zyke00anp2z332d2j5p","rule":"disk-full",` +
          String.raw`"matched_at":"2026-11-21T00:00:00\.000Z"\}`,
      ),
    },
  },
  {
    operation: 'approval.get',
    rule: 'refuses a malformed id',
    as: 'readonly',
    send: { method: 'GET', path: '/api/v1/approvals/job_00000000000000000000000000' },
    expect: { status: 400, code: 'invalid_argument', message: /^id: expected an id of the form apr_/ },
  },
  {
    operation: 'approval.get',
    rule: 'does not find an unknown approval',
    as: 'readonly',
    send: { method: 'GET', path: `/api/v1/approvals/${UNKNOWN}` },
    expect: { status: 404, code: 'not_found', message: new RegExp(UNKNOWN) },
  },
];

const PLANS: readonly Scenario[] = [
  {
    operation: 'approval.plan',
    rule: 'shows the stored view byte by byte',
    given: waiting(),
    as: 'operator',
    send: { method: 'GET', path: '/api/v1/approvals/$apr/plan' },
    expect: { status: 200, kind: 'approval.plan' },
    async afterwards(program, { apr, art = '' }) {
      const { text } = await send(program, 'approve', { method: 'GET', path: `/api/v1/approvals/${apr}/plan` });
      assert.equal(text, `{"schema_version":1,"kind":"approval.plan","data":${JSON.stringify(planView(art))}}\n`);
    },
  },
  {
    operation: 'approval.plan',
    rule: 'is not for readonly, which may see that something waits and no value of it',
    given: waiting(),
    as: 'readonly',
    send: { method: 'GET', path: '/api/v1/approvals/$apr/plan' },
    expect: { status: 403, code: 'forbidden' },
  },
  {
    operation: 'approval.plan',
    rule: 'is not found where the approval is about none',
    given: waiting({ planned: false }),
    as: 'operator',
    send: { method: 'GET', path: '/api/v1/approvals/$apr/plan' },
    expect: { status: 404, code: 'not_found', message: /has no saved plan/ },
  },
  {
    operation: 'approval.plan',
    rule: 'is not found where the plan is gone',
    async given(program) {
      const given = await gated(program);
      await program.store.write(({ db }) => db.deleteFrom('artifacts').where('id', '=', given.art).execute());
      return given;
    },
    as: 'operator',
    send: { method: 'GET', path: '/api/v1/approvals/$apr/plan' },
    expect: { status: 404, code: 'not_found', message: /is not kept any more/ },
  },
  {
    operation: 'approval.plan',
    rule: 'T19: shows nothing of a view that was altered, and says what to do',
    async given(program) {
      const given = await gated(program);
      const row = await program.store.db
        .selectFrom('artifacts')
        .select('sealed_view')
        .where('id', '=', given.art)
        .executeTakeFirstOrThrow();
      const altered = Buffer.from(row.sealed_view);
      altered.writeUInt8(altered.readUInt8(altered.length - 1) ^ 1, altered.length - 1);
      await program.store.write(({ db }) =>
        db.updateTable('artifacts').set({ sealed_view: altered }).where('id', '=', given.art).execute(),
      );
      return given;
    },
    as: 'approve',
    send: { method: 'GET', path: '/api/v1/approvals/$apr/plan' },
    expect: { status: 409, code: 'conflict', message: /^Integrity: .*Do not approve it; run svc doctor\.$/ },
    expectNot: ['terraform_data'],
  },
];

const STREAMS: readonly Scenario[] = [
  {
    operation: 'approval.watch',
    rule: 'is a stream, and no approval called stream',
    as: 'readonly',
    send: { method: 'HEAD', path: '/api/v1/approvals/stream' },
    expect: { status: 200, headers: { 'content-type': /^text\/event-stream/ } },
  },
  {
    operation: 'approval.watch',
    rule: 'is not for a host',
    as: 'host',
    send: { method: 'GET', path: '/api/v1/approvals/stream' },
    expect: { status: 403, code: 'forbidden' },
  },
];

export const APPROVAL_SCENARIOS: readonly Scenario[] = [...LISTS, ...GETS, ...PLANS, ...STREAMS];
