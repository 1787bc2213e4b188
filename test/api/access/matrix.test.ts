/**
 * Every route × every identity, generated from the table. The expected answers come from the rules of the contract.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type HttpFace, isNone } from '../../../src/operations/core/http-face.ts';
import { OPERATIONS } from '../../../src/operations/table.ts';
import { type Program, startProgram } from '../../support/program.ts';
import { pathOf, SAMPLES } from '../../support/attacks/samples.ts';
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
        assert.ok(sample !== undefined, `${id} has no row in SAMPLES of test/support/attacks/samples.ts`);
        const path = pathOf(id, http.path);
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
