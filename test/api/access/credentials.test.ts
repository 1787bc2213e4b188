/** Tokens at the door: which are let in, what they cost, and when they stop working. */
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { formatToken, newSecret } from '../../../src/domain/access/token.ts';
import { newId } from '../../../src/lib/id.ts';
import { randomBytes } from '../../../src/lib/random.ts';
import { createAuthenticator } from '../../../src/operations/access/authenticate.ts';
import { insertToken } from '../../../src/store/access/tokens.ts';
import { type Program, startProgram } from '../../support/program.ts';
import { exchange, split } from '../../support/raw-http.ts';
import { send } from '../../support/scenario.ts';

async function whoami(program: Program, authorization: string): Promise<number> {
  const response = await fetch(`${program.url}/api/v1/whoami`, { headers: { authorization } });
  await response.arrayBuffer();
  return response.status;
}

/** Tokens that each have a different secret, as real ones have: the slow hash of each has to be computed. */
async function coldTokens(program: Program, count: number): Promise<string[]> {
  const tokens: string[] = [];
  for (let i = 0; i < count; i += 1) {
    const [secret, salt, id] = [newSecret(), randomBytes(16), newId('tok', Date.now())];
    const hash = await program.authenticator.hashToken(secret, salt);
    const row = {
      id,
      name: `cold-${i}`,
      owner: `cold-${i}`,
      scope: 'readonly' as const,
      salt,
      hash,
      version: 1,
      expires_at: null,
      revoked_at: null,
      agent: null,
    };
    await program.store.write((tx) => insertToken(tx, { ...row, created_at: tx.now }));
    tokens.push(formatToken(id, secret));
  }
  return tokens;
}

test('T05: Wrong tokens never reach the slow hash, are 401 with a challenge, and hold up no other', async (t) => {
  const program = await startProgram(t);
  assert.equal(await whoami(program, `Bearer ${program.tokens.readonly}`), 200);
  const { kdfRuns } = program.authenticator.load();
  const known = program.tokens.readonly.slice(0, -43);
  const wrong = (i: number): string =>
    [`svc_${i}`, formatToken(newId('tok', Date.now()), newSecret()), known + newSecret(), `${known}${'A'.repeat(43)}`][
      i % 4
    ] ?? '';
  const flooding = { over: false };
  const flood = Array.from({ length: 8 }, async (_each, lane) => {
    for (let i = 0; i < 60; i += 1) assert.equal(await whoami(program, `Bearer ${wrong(i + lane)}`), 401);
  });
  const valid = (async () => {
    const statuses = new Set<number>();
    while (!flooding.over) statuses.add(await whoami(program, `Bearer ${program.tokens.readonly}`));
    return [...statuses];
  })();
  await Promise.all(flood);
  flooding.over = true;
  assert.deepEqual(await valid, [200]);
  assert.equal(program.authenticator.load().kdfRuns, kdfRuns);
});

test('T05: Two slow hashes run and eight wait; a further request is refused with a retry in a second', async (t) => {
  const program = await startProgram(t);
  const tokens = await coldTokens(program, 14);
  const answer = await Promise.allSettled(
    tokens.map((token) =>
      program.authenticator.authenticate({ authorization: [`Bearer ${token}`], cookie: undefined }, 'api'),
    ),
  );
  const refused = answer
    .filter((each) => each.status === 'rejected')
    .map(({ reason }) => (reason as { code: string }).code);
  assert.deepEqual(refused, ['kdf_busy', 'kdf_busy', 'kdf_busy', 'kdf_busy']);
  for (const token of tokens) assert.equal(await whoami(program, `Bearer ${token}`), 200);
  assert.equal(program.authenticator.load().kdfRuns, 14);
});

test('T05: A saturated gate is 503 kdf_busy with Retry-After on the wire, and lets known tokens through', async (t) => {
  const program = await startProgram(t);
  assert.equal(await whoami(program, `Bearer ${program.tokens.readonly}`), 200);
  const cold = await coldTokens(program, 24);
  const answers = await Promise.all([
    ...cold.map((token) => fetchWhoami(program, token)),
    fetchWhoami(program, program.tokens.readonly),
  ]);
  const busy = answers.filter(({ status }) => status === 503);
  assert.ok(busy.length > 0, 'none was refused');
  for (const { retryAfter, text } of busy) {
    assert.equal(retryAfter, '1');
    assert.match(text, /"code":"kdf_busy"/);
  }
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200, 503]));
  assert.equal(answers.at(-1)?.status, 200);
});

async function fetchWhoami(
  program: Program,
  token: string,
): Promise<{ status: number; retryAfter: string | null; text: string }> {
  const response = await fetch(`${program.url}/api/v1/whoami`, { headers: { authorization: `Bearer ${token}` } });
  return { status: response.status, retryAfter: response.headers.get('retry-after'), text: await response.text() };
}

test('Requests with the same new token share one slow hash', async (t) => {
  const program = await startProgram(t);
  const [token] = await coldTokens(program, 1);
  const statuses = await Promise.all(Array.from({ length: 20 }, () => whoami(program, `Bearer ${token}`)));
  assert.deepEqual(new Set(statuses), new Set([200]));
  assert.equal(program.authenticator.load().kdfRuns, 1);
});

test('T06: Another seal key opens no token, and no file of the store holds one', async (t) => {
  const program = await startProgram(t);
  const [token = ''] = await coldTokens(program, 1);
  assert.equal(await whoami(program, `Bearer ${token}`), 200);
  const thief = createAuthenticator({ store: program.store, clock: program.services.clock, sealKey: randomBytes(32) });
  const credentials = { authorization: [`Bearer ${token}`], cookie: undefined };
  await assert.rejects(thief.authenticate(credentials, 'api'), { code: 'unauthenticated' });
  await program.authenticator.authenticate(credentials, 'api');

  const cookie = (await program.session(token)).split('=')[1] ?? '';
  const file = program.storeFile ?? assert.fail('the program has no file');
  const secret = token.slice(-43);
  const forms = [secret, cookie].flatMap((text) => [
    text,
    Buffer.from(text, 'base64url').toString('hex'),
    Buffer.from(text).toString('hex'),
  ]);
  for (const name of readdirSync(dirname(file))) {
    const bytes = readFileSync(join(dirname(file), name));
    for (const form of forms) assert.ok(!bytes.includes(form), `${name} holds a secret`);
    assert.ok(!bytes.includes(Buffer.from(secret, 'base64url')), `${name} holds the secret's bytes`);
  }
});

test('T07: A revoked token stops working with the next request, also one that this process remembers', async (t) => {
  const program = await startProgram(t);
  const token = await program.token('readonly');
  assert.equal(await whoami(program, `Bearer ${token}`), 200);
  await program.revoke(token);
  assert.equal(await whoami(program, `Bearer ${token}`), 401);
});

test('T07: A token stops working when another process revokes it, on both databases', async (t) => {
  for (const postgres of [false, true]) {
    const program = await startProgram(t, { postgres });
    const other = await startProgram(t, { beside: program });
    const token = await program.token('readonly');
    assert.equal(await whoami(other, `Bearer ${token}`), 200);
    await program.revoke(token);
    assert.equal(await whoami(other, `Bearer ${token}`), 401);
  }
});

test('T07: A token stops working when it expires, though nothing is written then', async (t) => {
  let now = Date.now();
  const clock = { now: () => now, monotonic: () => performance.now(), after: () => () => undefined };
  const program = await startProgram(t, { clock });
  const token = await program.token('readonly', { expiresAt: now + 60_000 });
  assert.equal(await whoami(program, `Bearer ${token}`), 200);
  now += 59_999;
  assert.equal(await whoami(program, `Bearer ${token}`), 200);
  now += 1;
  assert.equal(await whoami(program, `Bearer ${token}`), 401);
});

test('On PostgreSQL requests that arrive together are let in by rows that were read after they came', async (t) => {
  const program = await startProgram(t, { postgres: true });
  const tokens = await Promise.all([1, 2, 3].map((i) => program.token('readonly', { name: `together-${i}` })));
  for (const token of tokens) assert.equal(await whoami(program, `Bearer ${token}`), 200);
  await program.revoke(tokens[1] ?? '');
  const statuses = await Promise.all(
    Array.from({ length: 30 }, (_each, i) => whoami(program, `Bearer ${tokens[i % 3]}`)),
  );
  assert.deepEqual(
    statuses,
    Array.from({ length: 30 }, (_each, i) => (i % 3 === 1 ? 401 : 200)),
  );
});

test('T12: Two Authorization headers are 401, whichever is right', async (t) => {
  const program = await startProgram(t);
  const good = `Bearer ${program.tokens.readonly}`;
  for (const [a, b] of [
    [good, good],
    [good, 'Bearer x'],
    ['Bearer x', good],
    [good, 'Basic eDp5'],
  ]) {
    const text =
      `GET /api/v1/whoami HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: ${a}\r\nauthorization: ` +
      `${b}\r\n\r\n`;
    const { status, body } = split(await exchange(program.port, text));
    assert.equal(status, 401);
    assert.match(body, /More than one Authorization header/);
  }
});

test('T12: A token in the query, in the body or in another header is ignored', async (t) => {
  const program = await startProgram(t);
  const token = program.tokens.operator;
  for (const query of [`access_token=${token}`, `token=${token}`, `authorization=Bearer%20${token}`]) {
    assert.equal((await send(program, 'nobody', { method: 'GET', path: `/api/v1/whoami?${query}` })).status, 401);
  }
  const cordon = { method: 'POST', path: '/api/v1/maintenance/cordon', body: { token, access_token: token } } as const;
  assert.equal((await send(program, 'nobody', cordon)).status, 401);
  const other = { 'x-auth-token': token, 'proxy-authorization': `Bearer ${token}`, 'x-api-key': token };
  assert.equal((await send(program, 'nobody', { method: 'GET', path: '/api/v1/whoami', headers: other })).status, 401);
});

test('T12: A bearer token wins over a cookie, also an invalid one over a valid cookie', async (t) => {
  const program = await startProgram(t);
  const cookie = await program.session(program.tokens.operator);
  const both = await send(program, 'readonly', { method: 'GET', path: '/api/v1/whoami', headers: { cookie } });
  assert.match(both.text, /"scope":"readonly","via":"api"/);
  const bad = await send(program, 'nobody', {
    method: 'GET',
    path: '/api/v1/whoami',
    headers: { cookie, authorization: 'Bearer x' },
  });
  assert.equal(bad.status, 401);
});

test('The scheme is Bearer in any case and one word follows it; every other form is 401', async (t) => {
  const program = await startProgram(t);
  const token = program.tokens.readonly;
  for (const header of [`bearer ${token}`, `BEARER ${token}`, `Bearer  ${token}`])
    assert.equal(await whoami(program, header), 200, header);
  for (const header of [
    token,
    `Basic ${token}`,
    `Bearer`,
    `Bearer ${token} x`,
    `Bearer ${token},`,
    `Bearer "${token}"`,
    `Token ${token}`,
  ]) {
    assert.equal(await whoami(program, header), 401, header);
  }
});
