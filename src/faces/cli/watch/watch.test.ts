/** `svc watch`: a screen that is drawn again in place on a terminal, and a line for each change elsewhere. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { until } from '../../../../test/support/api-client.ts';
import { needs } from '../../../../test/support/tools.ts';
import { sendFailure, sendJson, standIn } from '../../../../test/support/stand-in-server.ts';
import { type Given, type Ran, svc } from '../../../../test/support/terminal.ts';
import { cutLine } from '../terminal-text.ts';
import { ENTER, LEAVE } from './screen.ts';

const TOKEN = { SVC_TOKEN: 'svc_test' };
const AT = '2026-11-21T11:59:00.000Z';
const SVC = join(import.meta.dirname, '..', '..', '..', '..', 'bin', 'svc');

function job(id: string, state: string): object {
  return {
    id,
    state,
    runbook: 'df',
    requested_by: 'ana',
    created_at: AT,
    started_at: AT,
    finished_at: null,
    exit_code: null,
  };
}

const APPROVAL = {
  id: 'apr_1',
  plan_artifact_id: null,
  summary: 'Apply net',
  state: 'pending',
  runbook: 'apply net',
  requested_by: 'ana',
  created_at: AT,
  expires_at: AT,
};

function check(status: string): object {
  return { name: 'web', kind: 'tcp', interval: '30s', enabled: true, targets: [{ name: 'web1', status }] };
}

type Look = readonly [jobs: readonly object[], approvals: readonly object[], checks: readonly object[]] | 'down';

/** Answers one look after the other, and the last one from then on. */
async function server(t: TestContext, looks: readonly Look[]) {
  let at = -1;
  const { url } = await standIn(t, (request, response) => {
    const path = (request.url ?? '').replace(/\?.*$/, '');
    if (path === '/api/v1/jobs') at += 1;
    const look = looks[Math.min(at, looks.length - 1)] ?? 'down';
    if (look === 'down') return sendFailure(response, 'unavailable', 'It restarts.');
    const data = look[['/api/v1/jobs', '/api/v1/approvals', '/api/v1/checks'].indexOf(path)];
    sendJson(response, 200, `${JSON.stringify({ schema_version: 1, kind: 'list', data })}\n`);
  });
  return { url, looks: () => at };
}

const LOOKS: readonly Look[] = [
  [[job('job_2', 'queued'), job('job_1', 'failed')], [], [check('up')]],
  'down',
  [[job('job_2', 'running'), job('job_1', 'failed')], [APPROVAL], [check('down')]],
  [[job('job_3', 'succeeded'), job('job_2', 'failed'), job('job_1', 'failed')], [], [check('up')]],
];

/** Runs `svc watch` until the server has given all of its looks, then presses Ctrl-C. */
async function watched(t: TestContext, looks: readonly Look[], given: Given, ...flags: string[]): Promise<Ran> {
  const { url, looks: seen } = await server(t, looks);
  const ctrlC = new AbortController();
  const interruptible = (press: () => void): void => ctrlC.signal.addEventListener('abort', press);
  const ended = svc(['watch', ...flags, '--remote', url], { env: TOKEN, ...given, interruptible });
  await until('all looks were given', () => seen() > looks.length);
  ctrlC.abort();
  return ended;
}

test('without a screen each change is a line, up to Ctrl-C', async (t) => {
  const ran = await watched(t, LOOKS, {});
  assert.deepEqual([ran.exitCode, ran.stderr], [130, '']);
  assert.deepEqual(ran.stdout.split('\n').filter(Boolean), [
    'job job_2 queued: df',
    'job job_2 running: df',
    'approval apr_1 pending: apply net, asked by ana',
    'check web web1 down',
    'job job_2 failed: df',
    'job job_3 succeeded: df',
    'approval apr_1 settled: apply net',
    'check web web1 up',
  ]);
});

test('in JSON mode each change is the row, also on a terminal; what is there is the first change', async (t) => {
  const { stdout } = await watched(t, LOOKS.slice(2, 3), { columns: 80 }, '--output', 'json');
  const rows = stdout
    .split('\n')
    .filter(Boolean)
    .map((row) => JSON.parse(row) as object);
  assert.deepEqual(rows, [
    { job: job('job_2', 'running') },
    { approval: APPROVAL },
    { target: { check: 'web', name: 'web1', status: 'down' } },
  ]);
});

test('a screen has its parts, fits its lines, and ends with q', async (t) => {
  const many = Array.from({ length: 40 }, (_, at) => job(`job_${at}`, 'running'));
  const { url } = await server(t, [[many, [APPROVAL], [check('down'), check('up')]]]);
  const ran = await svc(['watch', '--remote', url], { env: TOKEN, columns: 80, rows: 20, typed: 'xq' });
  assert.deepEqual([ran.exitCode, ran.stderr], [0, '']);
  assert.ok(ran.stdout.startsWith(`${ENTER}\u001b[H`) && ran.stdout.endsWith(LEAVE));
  const lines = (ran.stdout.split('\u001b[J')[0] ?? '').split('\r\n');
  assert.ok(lines.length <= 20, String(lines.length));
  const text = lines.join('\n');
  for (const expected of [/svc watch {2}http/, /Approvals: 1 pending/, /apr_1/, /Jobs: 40 running, 0 queued/, /more/])
    assert.match(text, expected);
  assert.match(text, /Checks: 1 down of 2/);
});

test('what cannot be had is refused before the screen changes', async (t) => {
  const { url } = await server(t, ['down']);
  const ran = await svc(['watch', '--remote', url], { env: TOKEN, columns: 80, typed: 'q' });
  assert.deepEqual([ran.exitCode, ran.stdout], [7, '']);
});

test('on a real terminal it gives the screen and the keys back', { skip: needs('script') }, async (t) => {
  const { url, looks } = await server(t, LOOKS);
  const command = `'${SVC}' watch --remote '${url}'; stty -a | grep -o -- '-*icanon'`;
  const child = spawn('script', ['--quiet', '--return', '--flush', '--command', command, '/dev/null'], {
    env: { ...process.env, ...TOKEN, TERM: 'xterm' },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let shown = '';
  child.stdout.on('data', (chunk: Buffer) => (shown += chunk.toString()));
  const exited = once(child, 'exit') as Promise<[number | null]>;
  t.after(() => void child.kill('SIGKILL'));
  // The terminal was given no size.
  await until('the look without an answer is on the screen', () => /no answer: It restarts/.test(shown));
  assert.ok(shown.includes(ENTER));
  child.stdin.write('q');
  assert.equal((await exited)[0], 0);
  assert.ok(looks() > 0 && shown.includes(LEAVE));
  assert.match(shown.slice(shown.lastIndexOf(LEAVE)), /(?<!-)icanon/);
});

test('a line that a terminal has no room for says where it was cut, and its colours end', () => {
  assert.equal(cutLine('in 59m', 6), 'in 59m');
  assert.equal(cutLine('ends in 59m', 9), 'ends in…');
  assert.equal(cutLine('\u001b[1mends\u001b[0m in 59m', 9), '\u001b[1mends\u001b[0m in…');
  assert.equal(cutLine('\u001b[1mends in 59m\u001b[0m', 9), '\u001b[1mends in…\u001b[0m');
  assert.equal(cutLine('ends in 59m', null), 'ends in 59m');
});
