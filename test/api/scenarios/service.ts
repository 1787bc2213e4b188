import assert from 'node:assert/strict';
import { daemonRow } from '../../support/restart/daemon-row.ts';
import { restartOf } from '../../../src/store/maintenance/restarts.ts';
import { type Scenario, send } from '../../support/scenario.ts';

/** A surface without a job queue serves none of these. */
const OF_THE_QUEUE = [
  { operation: 'maintenance.interrupted', method: 'GET', path: '/api/v1/maintenance/interrupted' },
  { operation: 'maintenance.readiness', method: 'GET', path: '/api/v1/maintenance/readiness' },
  { operation: 'maintenance.cordon', method: 'POST', path: '/api/v1/maintenance/cordon' },
  { operation: 'maintenance.uncordon', method: 'POST', path: '/api/v1/maintenance/uncordon' },
  { operation: 'maintenance.restart', method: 'POST', path: '/api/v1/maintenance/restart' },
  { operation: 'maintenance.restart-status', method: 'GET', path: '/api/v1/maintenance/restart' },
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
    operation: 'maintenance.restart',
    rule: 'is refused where the program on disk is the one that runs, and no daemon hears of it',
    given: (program) => daemonRow(program, 'test-digest'),
    as: 'operator',
    send: { method: 'POST', path: '/api/v1/maintenance/restart' },
    expect: { status: 409, code: 'conflict', message: /is the one that runs/ },
    afterwards: async (program) => assert.equal((await restartOf(program.store.db, 'web1'))?.state, 'idle'),
  },
  {
    operation: 'maintenance.restart',
    rule: 'is refused until the daemon knows what it runs',
    given: (program) => daemonRow(program, null),
    as: 'operator',
    send: { method: 'POST', path: '/api/v1/maintenance/restart' },
    expect: { status: 503, code: 'unavailable', message: /does not know its program yet/ },
  },
  {
    operation: 'maintenance.restart',
    rule: 'is requested once: a second request changes nothing, and may force it',
    given: (program) => daemonRow(program, 'older-digest'),
    as: 'operator',
    send: { method: 'POST', path: '/api/v1/maintenance/restart?node=web1' },
    expect: {
      status: 200,
      kind: 'maintenance.restart',
      data: { state: 'requested', cordoned: false, in_flight: 0, drain_deadline: null, node: 'web1', forced: false },
    },
    async afterwards(program, _given, body) {
      const again = (query: string) =>
        send(program, 'operator', { method: 'POST', path: `/api/v1/maintenance/restart${query}` });
      assert.deepEqual((await again('')).json, body);
      const forced = (await again('?force=true')).json as { data: object };
      assert.deepEqual(forced.data, { ...(body as { data: object }).data, forced: true });
    },
  },
  {
    operation: 'maintenance.restart',
    rule: 'needs the name of one of several daemons',
    async given(program) {
      await daemonRow(program, 'a', 'web1');
      return daemonRow(program, 'b', 'web2');
    },
    as: 'operator',
    send: { method: 'POST', path: '/api/v1/maintenance/restart' },
    expect: { status: 409, code: 'conflict', message: /^node: 2 daemons run/ },
  },
  {
    operation: 'maintenance.restart-status',
    rule: 'shows a daemon that was never restarted as idle',
    given: (program) => daemonRow(program, null),
    as: 'readonly',
    send: { method: 'GET', path: '/api/v1/maintenance/restart' },
    expect: {
      status: 200,
      kind: 'maintenance.restart',
      data: { state: 'idle', requested_at: null, drain_deadline: null, reason: null, finished_at: null, running: [] },
    },
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
