/** The headers that every answer has, and what no header of a request can cause. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startProgram } from '../../support/program.ts';
import { exchange, request, split } from '../../support/raw-http.ts';
import { judgeAlways, send } from '../../support/scenario.ts';

test('T11: No header of a request makes a URL or an address in an answer', async (t) => {
  const program = await startProgram(t, { basePath: '/ops' });
  const evil = {
    Host: 'evil.example',
    'X-Forwarded-Host': 'evil.example',
    'X-Forwarded-For': '10.66.66.66',
    'X-Forwarded-Proto': 'https',
    'X-Real-IP': '10.66.66.66',
    Forwarded: 'for=10.66.66.66;host=evil.example;proto=https',
    'X-Original-URL': '/evil.example',
    'X-Rewrite-URL': '/evil.example',
  };
  const bearer = { Authorization: `Bearer ${program.tokens.operator}` };
  const form = `token=${program.tokens.operator}`;
  const asks = [
    request('GET', '/ops/', evil),
    request('GET', '/ops', { ...evil, Cookie: await program.session(program.tokens.operator) }),
    request('GET', '/ops/api/v1/whoami', { ...evil, ...bearer }),
    request('GET', '/ops/api/v1/openapi.json', { ...evil, ...bearer }),
    request('GET', 'http://evil.example/ops/api/v1/jobs', { ...evil, ...bearer }),
    request('GET', '/ops/api/v1/nothing', { ...evil, ...bearer }),
    request(
      'POST',
      '/ops/login',
      { ...evil, 'Content-Type': 'application/x-www-form-urlencoded', 'Content-Length': String(form.length) },
      form,
    ),
  ];
  for (const text of asks) {
    const answer = await exchange(program.port, text);
    assert.match(answer, /^HTTP\/1\.1 (200|303|401|404) /);
    assert.doesNotMatch(answer, /evil\.example|10\.66\.66\.66|https:/);
  }
  assert.match(await exchange(program.port, asks.at(-1) ?? ''), /\r\nLocation: \/ops\/\r\n/);
});

test('T43: No preflight gets a permission, and every answer forbids frames, sniffing and scripts', async (t) => {
  const program = await startProgram(t);
  for (const origin of ['https://evil.example', 'null', program.url]) {
    const headers = {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization',
    };
    for (const as of ['nobody', 'operator', 'session'] as const) {
      for (const path of ['/api/v1/jobs', '/api/v1/commands/run', '/', '/login', '/nothing']) {
        const answer = await send(program, as, { method: 'OPTIONS', path, headers });
        assert.equal(answer.status, as === 'nobody' ? 401 : 404);
        judgeAlways(answer.headers);
        const read = await send(program, as, { method: 'GET', path, headers: { origin } });
        judgeAlways(read.headers);
        assert.equal(read.headers.get('x-frame-options'), 'DENY');
      }
    }
  }
});

test('T43: No answer is made into a script by a parameter', async (t) => {
  const program = await startProgram(t);
  const answer = await send(program, 'session', { method: 'GET', path: '/api/v1/jobs?callback=alert' });
  assert.equal(answer.status, 400);
  assert.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8');
});

test('What is no HTTP at all gets an envelope too, and the end of the connection', async (t) => {
  const program = await startProgram(t);
  for (const text of [
    'hello\r\n\r\n',
    'GET / HTTP/9.9\r\n\r\n',
    'GET /a b c HTTP/1.1\r\nHost: x\r\n\r\n',
    '\0\0\0\0\r\n\r\n',
  ]) {
    const { status, body } = split(await exchange(program.port, text));
    assert.equal(status, 400);
    assert.match(body, /^\{"schema_version":1,"kind":"error","error":\{"code":"invalid_argument"/);
  }
});

test('An unexpected error is an envelope without details, and a line in the log with the same id', async (t) => {
  const program = await startProgram(t, {
    wrapStore: (store) =>
      new Proxy(store, {
        get(target, name, receiver) {
          if (name === 'db') throw new Error('secret detail of the database');
          return Reflect.get(target, name, receiver) as unknown;
        },
      }),
  });
  const answer = await send(program, 'readonly', { method: 'GET', path: '/api/v1/jobs?runbook=private' });
  assert.equal(answer.status, 500);
  assert.match(answer.text, /"code":"internal"/);
  assert.doesNotMatch(answer.text, /secret detail/);
  const id = answer.headers.get('x-request-id') ?? '';
  assert.match(id, /^req_[0-9a-z]{26}$/);
  const fields = program.logged[0]?.fields as { request: string; path: string; err: Error };
  assert.deepEqual(
    [fields.request, fields.path, fields.err.message],
    [id, '/api/v1/jobs', 'secret detail of the database'],
  );
  assert.equal(program.logged.length, 1);
});

test('An answer that has not changed is 304 for the tag it had, and a new one after a change', async (t) => {
  const program = await startProgram(t);
  const path = '/api/v1/jobs?limit=50';
  const first = await send(program, 'readonly', { method: 'GET', path });
  const etag = first.headers.get('etag') ?? '';
  for (const tag of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
    const same = await send(program, 'readonly', { method: 'GET', path, headers: { 'if-none-match': tag } });
    assert.deepEqual([same.status, same.text, same.headers.get('etag')], [304, '', etag]);
    judgeAlways(same.headers);
  }
  const again = await send(program, 'readonly', { method: 'GET', path });
  assert.deepEqual([again.status, again.text], [200, first.text]);
  const job = await program.queue();
  const changed = await send(program, 'readonly', { method: 'GET', path, headers: { 'if-none-match': etag } });
  assert.equal(changed.status, 200);
  assert.ok(changed.text.includes(job));
});

test('A cached answer is given only after the credential was checked', async (t) => {
  const program = await startProgram(t);
  const token = await program.token('readonly');
  const path = `${program.url}/api/v1/jobs`;
  const ask = async (text: string): Promise<number> =>
    (await fetch(path, { headers: { authorization: `Bearer ${text}` } })).status;
  assert.deepEqual([await ask(token), await ask(token)], [200, 200]);
  assert.ok(program.face.load().keptBytes > 0);
  assert.equal(await ask(program.tokens.host), 403);
  assert.equal(await ask('svc_x'), 401);
  await program.revoke(token);
  assert.equal(await ask(token), 401);
});

test('A change by another process drops the cached answers', async (t) => {
  const program = await startProgram(t);
  const other = await startProgram(t, { beside: program });
  const list = async (): Promise<string> =>
    (await send(other, 'readonly', { method: 'GET', path: '/api/v1/jobs' })).text;
  assert.match(await list(), /"data":\[\]/);
  assert.match(await list(), /"data":\[\]/);
  const job = await program.queue();
  assert.ok((await list()).includes(job));
});
