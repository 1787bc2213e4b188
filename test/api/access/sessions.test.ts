/** Signing in and out, and what a browser session may not be tricked into. */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import { type Program, startProgram } from '../../support/program.ts';
import { judgeAlways, send } from '../../support/scenario.ts';

type Extra = Readonly<Record<string, string>>;

async function post(program: Program, path: string, fields: Extra, headers: Extra = {}): Promise<Response> {
  return fetch(program.url + path, { method: 'POST', body: new URLSearchParams(fields), headers, redirect: 'manual' });
}

/** Signs in as a browser would; the result is its Cookie header. */
async function signIn(program: Program, token: string): Promise<string> {
  const response = await post(program, '/login', { token });
  assert.equal(response.status, 303);
  return response.headers.getSetCookie()[0]?.split(';')[0] ?? '';
}

async function csrfOf(program: Program, cookie: string): Promise<string> {
  const page = await (await fetch(`${program.url}/`, { headers: { cookie } })).text();
  return /name="csrf" value="([\w-]{43})"/.exec(page)?.[1] ?? assert.fail('the page has no csrf field');
}

async function statusWith(program: Program, cookie: string): Promise<number> {
  return (await fetch(`${program.url}/api/v1/whoami`, { headers: { cookie } })).status;
}

test('A token gives a cookie that scripts and other sites do not get, and leads to the dashboard', async (t) => {
  const program = await startProgram(t, { basePath: '/ops', secureCookies: true });
  const response = await post(program, '/login', { token: program.tokens.readonly });
  assert.equal(response.status, 303);
  assert.equal(response.headers.get('location'), '/ops/');
  judgeAlways(response.headers);
  assert.match(
    response.headers.get('set-cookie') ?? '',
    /^svc_session=[\w-]{43}; Path=\/ops; Max-Age=43200; HttpOnly; SameSite=Lax; Secure$/,
  );
});

test('The address of the sign-in page leads a browser that is signed in to the overview', async (t) => {
  const program = await startProgram(t, { basePath: '/ops' });
  const ask = (headers: Extra): Promise<Response> => fetch(`${program.url}/login`, { headers, redirect: 'manual' });
  const stranger = await ask({});
  assert.equal(stranger.status, 401);
  assert.match(await stranger.text(), /name="token"/);
  const known = await ask({ cookie: await signIn(program, program.tokens.readonly) });
  assert.deepEqual([known.status, known.headers.get('location')], [303, '/ops/']);
  assert.equal(known.headers.get('set-cookie'), null);
});

test('Without https the cookie is not marked Secure, or no browser would send it back', async (t) => {
  const program = await startProgram(t);
  const response = await post(program, '/login', { token: program.tokens.readonly });
  assert.match(response.headers.get('set-cookie') ?? '', /; Path=\/; Max-Age=43200; HttpOnly; SameSite=Lax$/);
});

test('A wrong token is 401 with the sign-in page and a message, and no cookie', async (t) => {
  const program = await startProgram(t);
  for (const token of [
    'svc_x',
    `${program.tokens.readonly.slice(0, -1)}${program.tokens.readonly.endsWith('A') ? 'B' : 'A'}`,
  ]) {
    const response = await post(program, '/login', { token });
    assert.equal(response.status, 401);
    assert.equal(response.headers.get('set-cookie'), null);
    const page = await response.text();
    assert.match(page, /role="alert">The token is unknown, expired or revoked/);
    assert.ok(!page.includes(token));
  }
});

test('What is no sign-in form is refused, and a long one is not read', async (t) => {
  const program = await startProgram(t);
  const json = await fetch(`${program.url}/login`, {
    method: 'POST',
    body: '{}',
    headers: { 'content-type': 'application/json' },
  });
  assert.equal(json.status, 400);
  assert.equal((await post(program, '/login', {})).status, 400);
  assert.equal((await post(program, '/login', { token: 'x'.repeat(5_000) })).status, 400);
});

test("A host's token gets no session", async (t) => {
  const program = await startProgram(t);
  const response = await post(program, '/login', { token: program.tokens.host });
  assert.equal(response.status, 403);
  assert.equal(response.headers.get('set-cookie'), null);
});

test('Every page without a session is 401 and the sign-in page, which names neither version nor host', async (t) => {
  const program = await startProgram(t);
  for (const path of ['/', '/jobs', '/approvals/apr_x', '/login', '/favicon.ico', '/metrics']) {
    for (const accept of ['text/html', '*/*', 'application/json']) {
      const response = await fetch(program.url + path, { headers: { accept } });
      assert.equal(response.status, 401, path);
      judgeAlways(response.headers);
      assert.equal(response.headers.get('www-authenticate'), 'Bearer');
      const page = await response.text();
      assert.match(page, /<form method="post" action="\/login">/);
      assert.doesNotMatch(page, /<script|<link|<img|src=|@import|url\(|https?:|0\.0\.0-test|test-host|127\.0\.0\.1/i);
      const [, style = ''] = /<style>([\s\S]*)<\/style>/.exec(page) ?? [];
      const sha = hash('sha256', style, 'base64');
      assert.ok(response.headers.get('content-security-policy')?.includes(`style-src 'sha256-${sha}'`));
    }
  }
});

test('A page that does not exist is a 404 page for a session and an envelope for a bearer token', async (t) => {
  const program = await startProgram(t);
  const page = await send(program, 'session', { method: 'GET', path: '/nothing' });
  assert.deepEqual([page.status, /<h1>Not found/.test(page.text)], [404, true]);
  const envelope = await send(program, 'readonly', { method: 'GET', path: '/nothing' });
  assert.deepEqual([envelope.status, /"code":"not_found"/.test(envelope.text)], [404, true]);
});

test('An address of nothing is answered by a page that says so, whatever it holds', async (t) => {
  const program = await startProgram(t, { basePath: '/ops' });
  const body = '01m7yd4zyke00anp2z332d2j5p';
  const answers: readonly (readonly [path: string, status: number])[] = [
    [`/approvals/apr_${body}`, 404],
    [`/jobs/job_${body}`, 404],
    [`/events/evt_${body}?from=push`, 404],
    ['/checks/none', 404],
    [`/approvals/job_${body}`, 400],
    ['/approvals/apr_x', 400],
    [`/approvals/apr_${body}/`, 404],
    [`/approvals/apr_${body}%0als`, 400],
    [`/jobs/job_${body}<script>`, 400],
    ['/jobs/%3Cscript%3E', 400],
    ['/jobs/', 400],
    ['/nothing', 404],
    ['/jobs?state=none', 400],
    ['/jobs?state=failed&state=failed', 400],
  ];
  for (const [path, expected] of answers) {
    const { status, text } = await send(program, 'session', { method: 'GET', path });
    assert.equal(status, expected, path);
    assert.match(text, /<(?:div|p) role="alert">/, path);
    assert.match(text, /<a href="\/ops\/">Go to the overview<\/a>|<form class="filter"/, path);
    assert.doesNotMatch(text, /<script(?! defer src=)/, path);
  }
  const envelope = await send(program, 'readonly', { method: 'GET', path: '/nothing' });
  assert.deepEqual([envelope.status, /"message":"There is no such page\."/.test(envelope.text)], [404, true]);
});

test('T08: A form posted by another site is refused and changes nothing', async (t) => {
  const program = await startProgram(t);
  const cookie = await signIn(program, program.tokens.operator);
  const csrf = await csrfOf(program, cookie);
  const foreign: Extra[] = [
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'cross-site', origin: program.url },
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: `${program.url}0` },
    { origin: program.url.replace('127.0.0.1', 'localhost') },
  ];
  for (const headers of foreign) {
    assert.equal(
      (await post(program, '/logout', { csrf }, { cookie, ...headers })).status,
      403,
      JSON.stringify(headers),
    );
    const login = await post(program, '/login', { token: program.tokens.operator }, headers);
    assert.deepEqual([login.status, login.headers.get('set-cookie')], [403, null], JSON.stringify(headers));
  }
  assert.equal(await statusWith(program, cookie), 200);
});

test('T08: A form without the token of its session is refused, whatever the browser says', async (t) => {
  const program = await startProgram(t);
  const cookie = await signIn(program, program.tokens.operator);
  const other = await csrfOf(program, await signIn(program, program.tokens.operator));
  for (const fields of [{}, { csrf: '' }, { csrf: 'x' }, { csrf: other }]) {
    assert.equal((await post(program, '/logout', fields, { cookie, 'sec-fetch-site': 'same-origin' })).status, 403);
  }
  assert.equal(await statusWith(program, cookie), 200);
});

test('T08: A form of our own page is accepted, by Sec-Fetch-Site or by Origin', async (t) => {
  const program = await startProgram(t);
  for (const headers of [
    { 'sec-fetch-site': 'same-origin' },
    { 'sec-fetch-site': 'none' },
    { origin: program.url },
    {},
  ] as Extra[]) {
    const cookie = await signIn(program, program.tokens.operator);
    const response = await post(program, '/logout', { csrf: await csrfOf(program, cookie) }, { cookie, ...headers });
    assert.equal(response.status, 303);
    assert.match(response.headers.get('set-cookie') ?? '', /^svc_session=; Path=\/; Max-Age=0;/);
    assert.equal(await statusWith(program, cookie), 401);
  }
});

test('T08: Each sign-in makes a new session; a cookie that we did not make opens none', async (t) => {
  const program = await startProgram(t);
  const planted = `svc_session=${'A'.repeat(43)}`;
  assert.equal(await statusWith(program, planted), 401);
  const response = await post(program, '/login', { token: program.tokens.readonly }, { cookie: planted });
  const made = response.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  assert.notEqual(made, planted);
  assert.notEqual(made, await signIn(program, program.tokens.readonly));
  assert.equal(await statusWith(program, planted), 401);
  assert.equal(await statusWith(program, `${planted}; ${made}`), 200);
});

test('T08: A session ends with the revocation of its token, with its expiry, and after twelve hours', async (t) => {
  let now = Date.now();
  const clock = { now: () => now, monotonic: () => performance.now(), after: () => () => undefined };
  const program = await startProgram(t, { clock });
  const revoked = await program.token('readonly');
  const cookies = {
    revoked: await signIn(program, revoked),
    expiring: await signIn(program, await program.token('readonly', { expiresAt: now + 3_600_000 })),
    lasting: await signIn(program, program.tokens.readonly),
  };
  await program.revoke(revoked);
  assert.deepEqual(
    await Promise.all(Object.values(cookies).map((cookie) => statusWith(program, cookie))),
    [401, 200, 200],
  );
  now += 3_600_000;
  assert.deepEqual(
    await Promise.all(Object.values(cookies).map((cookie) => statusWith(program, cookie))),
    [401, 401, 200],
  );
  now += 11 * 3_600_000;
  assert.deepEqual(
    await Promise.all(Object.values(cookies).map((cookie) => statusWith(program, cookie))),
    [401, 401, 401],
  );
});

test('T09: A session alone can write nothing below /api/v1', async (t) => {
  const program = await startProgram(t);
  const job = await program.queue();
  for (const path of ['/api/v1/commands/run', `/api/v1/jobs/${job}/cancel`, '/api/v1/maintenance/cordon']) {
    const answer = await send(program, 'session', { method: 'POST', path, body: {} });
    assert.equal(answer.status, 403);
    assert.match(answer.text, /needs a bearer token/);
  }
  assert.match(
    (await send(program, 'readonly', { method: 'GET', path: `/api/v1/jobs/${job}` })).text,
    /"state":"queued"/,
  );
});
