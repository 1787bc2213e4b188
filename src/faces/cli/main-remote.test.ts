/** What the command line does with --remote where the server, the route or the token is not as it should be. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createAuthority } from '../../../test/support/notify/push-authority.ts';
import { sendFailure, sendJson, standIn } from '../../../test/support/stand-in-server.ts';
import { hurriedClock, svc } from '../../../test/support/terminal.ts';
import { needs } from '../../../test/support/tools.ts';

const TOKEN = { SVC_TOKEN: 'svc_test' };

test('what can be no segment of a path is refused before a request, in both modes with the same bytes', async (t) => {
  const server = await standIn(t, (_, response) => sendFailure(response, 'internal'));
  for (const id of ['', '.', '..']) {
    const remote = await svc(['job', 'get', id, '--remote', server.url, '--output', 'json'], { env: TOKEN });
    const local = await svc(['job', 'get', id, '--output', 'json']);
    assert.equal(remote.exitCode, 1);
    assert.match(remote.stdout, /"code":"invalid_argument","message":"id: /);
    assert.deepEqual(remote, local);
  }
  assert.equal(server.seen.length, 0);
});

test('what has no route refuses --remote before it connects: not_implemented, exit 1', async (t) => {
  const server = await standIn(t, (_, response) => sendFailure(response, 'internal'));
  for (const words of [
    'token list',
    'rule enable disk',
    'workflow status',
    'serve',
    'version',
    'command run --inventory localhost --privileged -- id',
  ]) {
    const [before = '', after] = words.split(' -- ');
    const argv = [
      ...before.split(' '),
      '--output',
      'json',
      '--remote',
      server.url,
      ...(after === undefined ? [] : ['--', after]),
    ];
    const ran = await svc(argv, { env: TOKEN });
    assert.equal(ran.exitCode, 1, words);
    assert.match(ran.stdout, /"code":"not_implemented"/, words);
  }
  assert.equal(server.seen.length, 0);
  assert.equal(
    (await svc(['token', 'list'], { env: { ...TOKEN, SVC_REMOTE: server.url } })).exitCode,
    1,
    'SVC_REMOTE means it too',
  );
  assert.equal(
    (await svc(['version'], { env: { SVC_REMOTE: server.url } })).exitCode,
    0,
    'a program of this machine leaves SVC_REMOTE alone',
  );
});

test('a server that is not there is unavailable: exit 7', async (t) => {
  const server = await standIn(t, (_, response) => response.destroy());
  const gone = await svc(['whoami', '--remote', 'http://127.0.0.1:9'], { env: TOKEN });
  const cut = await svc(['maintenance', 'cordon', '--remote', server.url], { env: TOKEN });
  assert.deepEqual([gone.exitCode, cut.exitCode], [7, 7]);
  assert.match(gone.stderr, /^Error: Could not reach http:\/\/127\.0\.0\.1:9: connection refused \(ECONNREFUSED\)\./);
  assert.match(cut.stderr, /may have executed/);
});

test(
  'a certificate of a private authority is refused before the request, with how to trust it',
  { skip: needs('openssl') },
  async (t) => {
    const server = createServer(createAuthority(t).certificate(['127.0.0.1']), (_, response) => response.end());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.after(() => server.close());
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { exitCode, stderr } = await svc(['maintenance', 'cordon', '--remote', url], { env: TOKEN });
    assert.equal(exitCode, 7);
    assert.match(
      stderr,
      /is not trusted \(UNABLE_TO_[A-Z_]+\)\. For a private authority, set NODE_EXTRA_CA_CERTS to the file /,
    );
    assert.doesNotMatch(stderr, /may have executed/);
  },
);

test('what does not speak this API is said to, and a redirect is not followed with the token', async (t) => {
  const elsewhere = await standIn(t, (_, response) => sendFailure(response, 'internal'));
  const server = await standIn(t, ({ url }, response) => {
    if (url.startsWith('/moved')) response.writeHead(302, { Location: elsewhere.url }).end();
    else if (url.startsWith('/proxy'))
      response.writeHead(502, { 'Content-Type': 'text/html' }).end('<h1>Bad gateway</h1>');
    else response.writeHead(200, { 'Content-Type': 'text/html' }).end('<h1>Sign in</h1>');
  });
  const codes = ['/moved', '/proxy', '/page'].map(
    async (base) => (await svc(['whoami', '--remote', server.url + base], { env: TOKEN })).exitCode,
  );
  assert.deepEqual(await Promise.all(codes), [1, 7, 1]);
  assert.equal(elsewhere.seen.length, 0);
});

test('a busy authentication gate is asked again as often as it says, three times at most', async (t) => {
  const clock = hurriedClock();
  const server = await standIn(t, ({ url }, response, before) => {
    if (url.startsWith('/always') || before < 2) sendFailure(response, 'kdf_busy');
    else sendJson(response, 200, '{"schema_version":1,"kind":"doctor","data":[]}\n');
  });
  const passed = await svc(['doctor', '--remote', server.url], { env: TOKEN, clock });
  assert.equal(passed.exitCode, 0);
  assert.deepEqual(clock.pausesMs, [1000, 1000]);
  assert.match(passed.stderr, /retrying in 1s \(2 of 3\)/);
  const failed = await svc(['doctor', '--remote', `${server.url}/always`], { env: TOKEN });
  assert.equal(failed.exitCode, 7);
  assert.equal(server.seen.filter(({ url }) => url.startsWith('/always')).length, 4);
});

test('--remote is an http or https URL without credentials or query', async () => {
  for (const url of ['ftp://h', 'h:80', 'http://', 'http://a:b@h', 'http://h/?x=1', 'file:///etc/passwd']) {
    const ran = await svc(['whoami', '--remote', url], { env: TOKEN });
    assert.equal(ran.exitCode, 1, url);
    assert.match(ran.stderr, /^Error: --remote: /, url);
  }
});

test('a token comes from --token-file, else SVC_TOKEN_FILE, else SVC_TOKEN; none is exit code 4', async (t) => {
  const server = await standIn(t, (_, response) =>
    sendJson(response, 200, '{"schema_version":1,"kind":"doctor","data":[]}\n'),
  );
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-cli-'));
  t.after(() => rmSync(dir, { recursive: true }));
  writeFileSync(join(dir, 'a'), 'token_a\n');
  writeFileSync(join(dir, 'b'), 'token_b\n');
  const remote = ['doctor', '--remote', server.url];
  await svc([...remote, '--token-file', join(dir, 'a')], {
    env: { SVC_TOKEN_FILE: join(dir, 'b'), SVC_TOKEN: 'token_c' },
  });
  await svc(remote, { env: { SVC_TOKEN_FILE: join(dir, 'b'), SVC_TOKEN: 'token_c' } });
  await svc(remote, { env: { SVC_TOKEN: 'token_c' } });
  await svc([...remote, '--token-file', '-'], { typed: 'token_d\n' });
  assert.deepEqual(
    server.seen.map(({ headers }) => headers.authorization),
    ['Bearer token_a', 'Bearer token_b', 'Bearer token_c', 'Bearer token_d'],
  );
  assert.equal((await svc(remote)).exitCode, 4);
  assert.equal((await svc([...remote, '--token-file', join(dir, 'none')])).exitCode, 1);
  assert.equal((await svc(remote, { env: { SVC_TOKEN: 'two\nlines' } })).exitCode, 1);
});

test('a 204 prints nothing in JSON mode', async (t) => {
  const server = await standIn(t, (_, response) => response.writeHead(204).end());
  assert.deepEqual(await svc(['maintenance', 'uncordon', '--remote', server.url, '--output', 'json'], { env: TOKEN }), {
    exitCode: 0,
    stdout: '',
    stderr: '',
  });
});

test('an answer that breaks off is no success', async (t) => {
  const server = await standIn(t, (_, response) => {
    response.writeHead(200, { 'Content-Type': 'application/json' });
    response.write('{"schema_version":1,"kind":"job.list","data":[');
    setImmediate(() => response.destroy());
  });
  assert.equal((await svc(['job', 'list', '--remote', server.url], { env: TOKEN })).exitCode, 7);
});

test('a token that travels unencrypted to another machine is warned of once, and --insecure silences it', async () => {
  // No address of loopback, and nothing listens there: the warning comes before the refusal.
  const http = ['--remote', 'http://0.0.0.0:1'];
  const once = /^Warning: the token and the answers travel unencrypted to http:\/\/0\.0\.0\.0:1\. /;
  const warned = await svc(['job', 'list', ...http], { env: TOKEN });
  assert.match(warned.stderr, once);
  assert.equal(warned.stderr.match(/Warning/g)?.length, 1);
  const inJson = await svc(['job', 'list', '--output', 'json'], { env: { ...TOKEN, SVC_REMOTE: 'http://0.0.0.0:1' } });
  assert.match(inJson.stderr, once);
  assert.doesNotMatch(inJson.stdout, /Warning/);
  for (const [argv, env] of [
    [[...http, '--insecure'], TOKEN],
    [http, { ...TOKEN, SVC_INSECURE: '1' }],
    [['--remote', 'https://0.0.0.0:1'], TOKEN],
    [['--remote', 'http://127.0.0.1:1'], TOKEN],
    [['--remote', 'http://[::1]:1'], TOKEN],
    [['--remote', 'http://localhost:1'], TOKEN],
    [['--remote', 'http://0x7f.1:1'], TOKEN],
  ] as const) {
    const ran = await svc(['job', 'list', ...argv], { env });
    assert.doesNotMatch(ran.stderr, /Warning/, argv.join(' '));
    assert.notEqual(ran.exitCode, 0);
  }
});
