/** Live names: what completion proposes, and what a terminal asks for. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { sendFailure, sendJson, standIn } from '../../../../test/support/stand-in-server.ts';
import { type Given, hurriedClock, type Ran, svc } from '../../../../test/support/terminal.ts';
import { systemClock } from '../../../lib/clock.ts';

const TOKEN = { SVC_TOKEN: 'svc_test' };
const JOB = 'job_01m7yd4zyke00anp2z332d2j5p';
const APPROVAL = 'apr_01m7yd4zyke00anp2z332d2j5p';

/** A few rows of each list, and what was asked. */
async function server(t: TestContext, rows: Readonly<Record<string, readonly object[]>>) {
  const { url, seen } = await standIn(t, (request, response) => {
    const path = (request.url ?? '').replace(/^\/api\/v1/, '').replace(/\?.*$/, '');
    const data = rows[path];
    if (data === undefined) sendFailure(response, 'not_found', `no ${path}`);
    else sendJson(response, 200, `${JSON.stringify({ schema_version: 1, kind: 'some.list', data })}\n`);
  });
  const complete = async (...words: string[]): Promise<string[]> => {
    const ran = await svc(['complete', '--', ...words], { env: { ...TOKEN, SVC_REMOTE: url }, clock: systemClock });
    assert.deepEqual([ran.exitCode, ran.stderr], [0, '']);
    return ran.stdout.split('\n').filter(Boolean);
  };
  return { url, seen, complete };
}

test('completion proposes the names that the last word may become', async (t) => {
  const { complete, url, seen } = await server(t, {
    '/jobs': [{ id: JOB, runbook: 'df' }, { id: 'job_2' }, { id: '$(reboot)' }, { id: 'a b' }, { other: 1 }],
    '/workspaces': [{ name: 'net' }, { name: 'db' }],
    '/rules': [
      { id: 'x', name: 'disk-full', revoked_at: null },
      { id: 'y', name: 'revoked', revoked_at: '2026-11-21T12:00:00.000Z' },
    ],
    '/events': [{ id: 'evt_1', name: 'DiskFull' }],
  });
  // What a shell would read as more than a word is left out.
  assert.deepEqual(await complete('job', 'get', ''), [JOB, 'job_2']);
  assert.deepEqual(await complete('job', 'get', 'job_2'), ['job_2']);
  assert.deepEqual(await complete('--output', 'json', 'job', 'redrive', 'job_1', 'job_0'), [JOB]);
  assert.deepEqual(await complete('workspace', 'apply', 'n'), ['net']);
  assert.deepEqual(await complete('rule', 'test', 'disk-full', '--event', ''), ['evt_1']);
  assert.deepEqual(await complete('rule', 'get', '--remote', '=', url, ''), ['disk-full']);
  assert.match(String(seen[0]?.url), /\?limit=50$/);
  const before = seen.length;
  for (const words of [
    'rule add ',
    'job get --',
    'job get --s',
    'job',
    'nonsense x ',
    'command run -- ',
    'token list ',
  ])
    assert.deepEqual(await complete(...words.split(' ')), [], words);
  assert.equal(seen.length, before, 'nothing was asked');
});

test('completion says nothing where names cannot be had, and waits no longer than it may', async (t) => {
  const { complete } = await server(t, {});
  assert.deepEqual(await complete('job', 'get', ''), []);
  assert.deepEqual(await complete('token', 'revoke', ''), [], 'has no route');
  const silent = await standIn(t, () => undefined);
  const ran = await svc(['complete', '--', 'job', 'get', ''], {
    env: { ...TOKEN, SVC_REMOTE: silent.url },
    clock: hurriedClock(),
  });
  assert.deepEqual(ran, { exitCode: 0, stdout: '', stderr: '' });
  assert.equal((await svc(['complete', '--', 'job', 'get', ''])).stdout, '', 'no data directory');
});

function asking(url: string, words: string, given: Given): Promise<Ran> {
  return svc([...words.split(' '), '--remote', url], { env: TOKEN, ...given });
}

test('a terminal shows what there is to choose from, and takes a number or a name', async (t) => {
  const rows = {
    '/approvals': [
      { id: APPROVAL, runbook: 'apply:net', summary: 'run df on prod', state: 'pending', requested_by: 'ana' },
      { id: 'apr_2', summary: 'evil \u001b[2J', state: 'pending', requested_by: 'bo' },
    ],
    [`/approvals/${APPROVAL}`]: [],
    '/approvals/apr_2': [],
  };
  const { url, seen } = await server(t, rows);
  const picked = await asking(url, 'approval get', { typed: '1\n' });
  assert.match(
    picked.stderr,
    new RegExp(`^ {2}1 {2}${APPROVAL} {2}apply:net: run df on prod, pending, asked by ana$`, 'm'),
  );
  assert.match(picked.stderr, /^ {2}2 {2}apr_2 +evil \\u001b\[2J/m);
  assert.match(picked.stderr, /Number, or id: $/m);
  assert.equal(seen.at(-1)?.url, `/api/v1/approvals/${APPROVAL}`);
  const count = seen.length;
  const other = await asking(url, 'approval get', { typed: '3\n' });
  assert.match(other.stderr, /svc approval get: expected a number from 1 to 2, or the id\./);
  assert.deepEqual([other.exitCode, seen.length], [1, count + 1], 'only the list was asked for');
  await asking(url, 'approval get', { typed: 'apr_2\n' });
  assert.equal(seen.at(-1)?.url, '/api/v1/approvals/apr_2');
});

test('without a terminal, an answer or a choice the command line is refused as before', async (t) => {
  const { url, seen } = await server(t, { '/approvals': [], '/jobs': [{ id: JOB }] });
  for (const given of [{ typed: '\n' }, {}]) {
    const ran = await asking(url, 'job get', given);
    assert.equal(ran.exitCode, 1);
    assert.match(ran.stderr, /svc job get: expected the id\./);
  }
  const refused = await asking(url, 'job get --no-input', { typed: '1\n' });
  assert.doesNotMatch(refused.stderr, /Number/);
  assert.match((await asking(url, 'approval approve', { typed: '1\n' })).stderr, /nothing to choose from/);
  assert.deepEqual((await asking(url, 'job get --output json', { typed: '1\n' })).stderr, '');
  assert.ok(seen.every(({ url: path }) => /^\/api\/v1\/(jobs|approvals)(\?|$)/.test(path ?? '')));
});

test('a flag that is required is asked for, with its values', async (t) => {
  const { url } = await server(t, {});
  const ran = await asking(url, 'check add web --interval 30s --target a=b:1', { typed: 'tcp\n' });
  assert.match(ran.stderr, /^kind \(tcp, tls, ping, http, dns, metric\): /m);
  assert.match(ran.stderr, /no \/checks/, 'it was sent');
});
