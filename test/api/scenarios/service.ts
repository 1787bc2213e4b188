import assert from 'node:assert/strict';
import { type Scenario, send } from '../../support/scenario.ts';

/** A surface without a job queue serves none of these. */
const OF_THE_QUEUE = [
  { operation: 'maintenance.interrupted', method: 'GET', path: '/api/v1/maintenance/interrupted' },
  { operation: 'maintenance.readiness', method: 'GET', path: '/api/v1/maintenance/readiness' },
  { operation: 'maintenance.cordon', method: 'POST', path: '/api/v1/maintenance/cordon' },
  { operation: 'maintenance.uncordon', method: 'POST', path: '/api/v1/maintenance/uncordon' },
] as const;

export const SERVICE_SCENARIOS: readonly Scenario[] = [
  ...OF_THE_QUEUE.map(({ operation, ...message }): Scenario => ({
    operation,
    rule: 'is unavailable on a surface without a job queue',
    as: 'operator',
    program: { hasQueue: false },
    send: message,
    expect: { status: 503, code: 'unavailable', headers: { 'retry-after': '1' } },
  })),
  {
    operation: 'whoami',
    rule: 'shows the calling token and the server, without a null where there is nothing to say',
    as: 'readonly',
    send: { method: 'GET', path: '/api/v1/whoami' },
    expect: {
      status: 200,
      kind: 'whoami',
      data: {
        scope: 'readonly',
        via: 'api',
        expires_at: null,
        server: { version: '0.0.0-test', hostname: 'test-host', started_at: '2026-01-01T00:00:00.000Z' },
      },
    },
    expectNot: ['svc_', 'salt', 'hash'],
  },
  {
    operation: 'whoami',
    rule: 'shows of a session the token that it stands for, and when it ends',
    as: 'session',
    send: { method: 'GET', path: '/api/v1/whoami' },
    expect: {
      status: 200,
      kind: 'whoami',
      data: { scope: 'operator', via: 'web' },
      text: /"expires_at":"\d{4}-\d\d-\d\dT/,
    },
  },
  {
    operation: 'doctor',
    rule: 'answers as GET /health under the kind doctor',
    as: 'approve',
    send: { method: 'GET', path: '/api/v1/health' },
    expect: { status: 200, kind: 'doctor', data: [{ name: 'store', status: 'ok', detail: 'made up for a test' }] },
  },
  {
    operation: 'audit.list',
    rule: 'shows who did what, without the hashes that only the doctor needs',
    as: 'approve',
    send: { method: 'GET', path: '/api/v1/audit?operation=token.create' },
    expect: { status: 200, kind: 'audit.list', data: [] },
    expectNot: ['hash', 'prev'],
  },
  {
    operation: 'audit.list',
    rule: 'is refused to a token of the scope readonly',
    as: 'readonly',
    send: { method: 'GET', path: '/api/v1/audit' },
    expect: { status: 403, code: 'forbidden' },
  },
  {
    operation: 'openapi',
    rule: 'describes the API in OpenAPI 3.1, relative to wherever it is served',
    as: 'readonly',
    program: { basePath: '/ops' },
    send: { method: 'GET', path: '/api/v1/openapi.json' },
    expect: { status: 200, headers: { 'content-type': 'application/json' }, text: /"openapi": "3\.1\.0"/ },
    expectNot: ['/ops', '127.0.0.1'],
  },
  {
    operation: 'maintenance.readiness',
    rule: 'is safe to reboot only when cordoned and nothing runs',
    as: 'readonly',
    send: { method: 'GET', path: '/api/v1/maintenance/readiness' },
    expect: {
      status: 200,
      kind: 'maintenance.readiness',
      data: { cordoned: false, in_flight: 0, safe_to_reboot: false, running: [] },
    },
  },
  {
    operation: 'maintenance.readiness',
    rule: 'does not know a daemon that never was',
    as: 'readonly',
    send: { method: 'GET', path: '/api/v1/maintenance/readiness?node=web9' },
    expect: { status: 404, code: 'not_found' },
  },
  {
    operation: 'node.list',
    rule: 'is empty before a daemon has started',
    as: 'readonly',
    send: { method: 'GET', path: '/api/v1/nodes' },
    expect: { status: 200, kind: 'node.list', data: [] },
  },
  {
    operation: 'maintenance.cordon',
    rule: 'is safe to reboot at once when nothing runs, and says the same when repeated',
    as: 'operator',
    send: { method: 'POST', path: '/api/v1/maintenance/cordon' },
    expect: {
      status: 200,
      kind: 'maintenance.readiness',
      data: { cordoned: true, in_flight: 0, safe_to_reboot: true, running: [] },
    },
    async afterwards(program, _given, body) {
      const again = await send(program, 'operator', { method: 'POST', path: '/api/v1/maintenance/cordon' });
      assert.deepEqual(again.json, body);
    },
  },
  {
    operation: 'maintenance.cordon',
    rule: 'waits with its word for the job that runs',
    async given(program) {
      const job = await program.queue();
      await program.claim();
      return { job };
    },
    as: 'operator',
    send: { method: 'POST', path: '/api/v1/maintenance/cordon' },
    expect: {
      status: 200,
      kind: 'maintenance.readiness',
      data: { cordoned: true, in_flight: 1, safe_to_reboot: false, running: [] },
    },
  },
  {
    operation: 'maintenance.reload',
    rule: 'is answered by the daemon alone',
    as: 'operator',
    send: { method: 'POST', path: '/api/v1/maintenance/reload' },
    expect: { status: 503, code: 'unavailable', message: /not the daemon/ },
  },
  {
    operation: 'maintenance.uncordon',
    rule: 'lifts the cordon and wakes the queue',
    as: 'operator',
    send: { method: 'POST', path: '/api/v1/maintenance/uncordon' },
    expect: { status: 200, kind: 'maintenance.readiness', data: { cordoned: false } },
    afterwards: async (program) => assert.equal(program.wakes(), 1),
  },
];
