/**
 * Every route × every identity, generated from the table. The expected answers come from the rules of the contract.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type HttpFace, isNone } from '../../../src/operations/core/http-face.ts';
import { OPERATIONS } from '../../../src/operations/table.ts';
import { type Program, startProgram } from '../../support/program.ts';
import { judgeAlways } from '../../support/scenario.ts';
import { alarmed } from '../../support/store/alarmed.ts';

const IDENTITIES = [
  'none',
  'garbage',
  'expired',
  'revoked',
  'readonly',
  'operator',
  'approve',
  'host',
  'session',
] as const;
type Identity = (typeof IDENTITIES)[number];

const UNKNOWN_JOB = 'job_00000000000000000000000000';
const UNKNOWN_EVENT = 'evt_00000000000000000000000000';
const UNKNOWN_ENDPOINT = 'ep_00000000000000000000000000';
const UNKNOWN_RUN = 'wfr_00000000000000000000000000';
const UNKNOWN_APPROVAL = 'apr_00000000000000000000000000';

/** What is sent to each operation, and what who may call it gets. A new operation needs its row here. */
const SAMPLES: Readonly<
  Record<string, { params?: Readonly<Record<string, string>>; body?: unknown; allowed: number; endless?: true }>
> = {
  whoami: { allowed: 200 },
  doctor: { allowed: 200 },
  openapi: { allowed: 200 },
  'job.list': { allowed: 200 },
  'job.get': { params: { id: UNKNOWN_JOB }, allowed: 404 },
  'job.events': { params: { id: UNKNOWN_JOB }, allowed: 404 },
  'job.tail': { params: { id: UNKNOWN_JOB }, allowed: 404 },
  'job.cancel': { params: { id: UNKNOWN_JOB }, allowed: 404 },
  'job.rerun': { params: { id: UNKNOWN_JOB }, allowed: 404 },
  'job.result': { params: { id: UNKNOWN_JOB }, allowed: 404 },
  'command.run': { body: { inventory: 'localhost', command: ['true'] }, allowed: 202 },
  'playbook.run': { body: { playbook: 'site.yml', source: 'ops', inventory: 'localhost' }, allowed: 404 },
  'source.list': { allowed: 200 },
  'workspace.list': { allowed: 200 },
  'workspace.plan': { params: { name: 'nowhere' }, allowed: 404 },
  'workspace.apply': { params: { name: 'nowhere' }, allowed: 404 },
  'workspace.destroy': { params: { name: 'nowhere' }, allowed: 404 },
  'approval.list': { allowed: 200 },
  'approval.get': { params: { id: UNKNOWN_APPROVAL }, allowed: 404 },
  'audit.list': { allowed: 200 },
  'approval.plan': { params: { id: UNKNOWN_APPROVAL }, allowed: 404 },
  'approval.order': { params: { id: UNKNOWN_APPROVAL }, allowed: 404 },
  'job.order': { params: { id: UNKNOWN_JOB }, allowed: 404 },
  'approval.decision': { params: { id: UNKNOWN_APPROVAL }, body: { decision: 'approve' }, allowed: 404 },
  'approval.watch': { allowed: 200, endless: true },
  'secret.list': { allowed: 200 },
  'backup.list': { allowed: 200 },
  'host.request': { body: { request: 'nothing' }, allowed: 200 },
  'netgroup.list': { allowed: 200 },
  'netgroup.add': { body: { name: 'away', prefixes: '10.0.0.0/8' }, allowed: 400 },
  'netgroup.set': { params: { name: 'nowhere' }, body: { name: 'nowhere', prefixes: '10.0.0.0/8' }, allowed: 404 },
  'netgroup.remove': { params: { name: 'nowhere' }, allowed: 404 },
  'check.list': { allowed: 200 },
  'check.add': { body: { name: 'web', kind: 'nothing', interval: '1m', targets: ['a=10.0.0.1:80'] }, allowed: 400 },
  'check.update': { params: { name: 'nowhere' }, body: { targets: ['a=10.0.0.1:80'] }, allowed: 404 },
  'check.enable': { params: { name: 'nowhere' }, allowed: 404 },
  'check.disable': { params: { name: 'nowhere' }, allowed: 404 },
  'check.remove': { params: { name: 'nowhere' }, allowed: 404 },
  'check.probe': { params: { name: 'nowhere' }, allowed: 404 },
  'mute.list': { allowed: 200 },
  'schedule.list': { allowed: 200 },
  'event.list': { allowed: 200 },
  'event.summary': { allowed: 200 },
  'event.get': { params: { id: UNKNOWN_EVENT }, allowed: 404 },
  'rule.list': { allowed: 200 },
  'silence.list': { allowed: 200 },
  'notify.endpoint.list': { allowed: 200 },
  'notify.endpoint.add': { body: { endpoint: 'http://example.com/x' }, allowed: 400 },
  'notify.endpoint.remove': { params: { id: UNKNOWN_ENDPOINT }, allowed: 404 },
  'job.notify': { params: { id: UNKNOWN_JOB }, allowed: 404 },
  'mute.add': { body: { scope_kind: 'global', for: '1h' }, allowed: 200 },
  'mute.remove': { params: { id: 'mute_00000000000000000000000000' }, allowed: 404 },
  'silence.add': { body: { rule: 'nowhere', for: '1h', reason: 'moved' }, allowed: 404 },
  'silence.remove': { params: { id: 'sil_00000000000000000000000000' }, allowed: 404 },
  'rule.disable': { params: { name: 'nowhere' }, allowed: 404 },
  'check.snooze': { params: { name: 'nowhere' }, body: { for: '1h' }, allowed: 404 },
  'schedule.disable': { params: { name: 'nowhere' }, allowed: 404 },
  'workflow.run': { params: { name: 'nowhere' }, allowed: 404 },
  'workflow.status': { params: { run: UNKNOWN_RUN }, allowed: 404 },
  'workflow.cancel': { params: { run: UNKNOWN_RUN }, allowed: 404 },
  'workspace.drift': { params: { name: 'nowhere' }, allowed: 404 },
  'event.trace': { params: { id: UNKNOWN_EVENT }, allowed: 404 },
  'job.redrive': { body: { ids: [UNKNOWN_JOB] }, allowed: 404 },
  'notify.test': { allowed: 200 },
  'maintenance.interrupted': { allowed: 200 },
  'maintenance.readiness': { allowed: 200 },
  'node.list': { allowed: 200 },
  'maintenance.cordon': { allowed: 200 },
  'maintenance.uncordon': { allowed: 200 },
  'maintenance.reload': { allowed: 503 },
  'maintenance.restart': { allowed: 503 },
  'maintenance.restart-status': { allowed: 503 },
};

/** The contract's table of scopes, "Authentication", in words of this test. */
function permits(identity: Identity, { method, path }: HttpFace): boolean {
  if (identity === 'session') return method === 'GET';
  if (path === '/hosts/self/requests') return identity === 'host';
  if (path === '/approvals/{id}/decision') return identity === 'approve';
  if (/^\/audit$|\/(?:plan|order)$/.test(path) && method === 'GET')
    return identity === 'operator' || identity === 'approve';
  if (method === 'GET') return identity === 'readonly' || identity === 'operator' || identity === 'approve';
  if (path === '/checks/{name}/probe')
    return identity === 'readonly' || identity === 'operator' || identity === 'approve';
  return identity === 'operator';
}

function bearer(token: string): { authorization: string } {
  return { authorization: `Bearer ${token}` };
}

/** A stream ends when its reader closes it. */
async function dropped(response: Response): Promise<string> {
  await response.body?.cancel();
  return '';
}

describe('The authorisation matrix', () => {
  const alarm = { touched: 0 };
  let program: Program;
  let headers: Readonly<Record<Identity, Readonly<Record<string, string>>>>;
  before(async () => {
    program = await startProgram(null, { wrapStore: (store) => alarmed(store, alarm) });
    const revoked = await program.token('operator');
    await program.revoke(revoked);
    headers = {
      none: {},
      garbage: bearer('svc_garbage'),
      expired: bearer(await program.token('operator', { expiresAt: Date.now() - 1 })),
      revoked: bearer(revoked),
      readonly: bearer(program.tokens.readonly),
      operator: bearer(program.tokens.operator),
      approve: bearer(program.tokens.approve),
      host: bearer(program.tokens.host),
      session: { cookie: await program.session(program.tokens.operator) },
    };
  });
  after(() => program.close());

  for (const operation of OPERATIONS) {
    const { id, http } = operation;
    if (isNone(http)) continue;
    for (const identity of IDENTITIES) {
      test(`T01 T03 T04 T09: ${http.method} ${http.path} as ${identity}`, async () => {
        const sample = SAMPLES[id];
        assert.ok(sample !== undefined, `${id} has no row in SAMPLES of test/api/access/matrix.test.ts`);
        const path = http.path.replaceAll(
          /\{([a-z_]+)\}/g,
          (_all, name: string) => sample.params?.[name] ?? assert.fail(`${id}: ${name} has no sample`),
        );
        const known = !['none', 'garbage', 'expired', 'revoked'].includes(identity);
        const status = !known ? 401 : permits(identity, http) ? sample.allowed : 403;
        alarm.touched = 0;
        const body = sample.body === undefined ? {} : { body: JSON.stringify(sample.body) };
        const type = sample.body === undefined ? {} : { 'content-type': 'application/json' };
        const response = await fetch(`${program.url}/api/v1${path}`, {
          method: http.method,
          headers: { ...headers[identity], ...type },
          ...body,
        });
        const text = sample.endless === true && response.ok ? await dropped(response) : await response.text();
        assert.equal(response.status, status, text);
        judgeAlways(response.headers);
        if (status === 401 || status === 403) {
          assert.equal(alarm.touched, 0, 'a refused call read or wrote the store');
          assert.match(text, status === 401 ? /"code":"unauthenticated"/ : /"code":"forbidden"/);
        }
        assert.equal(response.headers.get('www-authenticate'), status === 401 ? 'Bearer' : null);
      });
    }
  }

  for (const identity of IDENTITIES) {
    test(`T01: GET /metrics as ${identity}`, async () => {
      const status = ['none', 'garbage', 'expired', 'revoked'].includes(identity)
        ? 401
        : identity === 'host'
          ? 403
          : 200;
      const response = await fetch(`${program.url}/metrics`, { headers: headers[identity] });
      assert.equal(response.status, status);
      assert.equal((await response.text()).includes('gatehouse_http_responses_total'), status === 200);
    });
  }
});
