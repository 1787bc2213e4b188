/** The messages of the command line around the answer of an operation. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sendJson, standIn } from '../../../../test/support/stand-in-server.ts';
import { svc } from '../../../../test/support/terminal.ts';

const TOKEN = { SVC_TOKEN: 'svc_test' };
const EVENT = 'evt_01m7yd4zyke00anp2z332d2j5p';

test('an empty list names the flags that filtered it, else the command that adds a row', async (t) => {
  const server = await standIn(t, ({ url }, response) => {
    const kind = `${/\/api\/v1\/(audit|\w+(?=s\b))/.exec(url)?.[1] ?? ''}.list`;
    sendJson(response, 200, `{"schema_version":1,"kind":"${kind}","data":[]}\n`);
  });
  const said = async (...words: string[]): Promise<string> =>
    (await svc([...words, '--remote', server.url], { env: TOKEN })).stdout;
  assert.equal(
    await said('event', 'list', '--source', 'grafana', '--outcome', 'fired'),
    'No event matches --source grafana --outcome fired.\n',
  );
  assert.equal(
    await said('job', 'list', '--runbook', "rule:it's \u001b[31m", '--limit', '3'),
    String.raw`No job matches --runbook 'rule:it'\''s \u001b[31m'.` + '\n',
  );
  assert.equal(await said('audit', 'list', '--target', 'x'), 'No row of the audit ledger matches --target x.\n');
  assert.match(await said('event', 'list', '--limit', '3'), /^No events\. Create a URL/);
  assert.equal(await said('job', 'list'), 'No jobs.\n');
  assert.match(await said('silence', 'list', '--all'), /^No silences\. Add one with/);
  assert.match(await said('approval', 'list', '--all'), /^No pending approvals/);
});

test('on a terminal the long name of an event is cut, and its id is not', async (t) => {
  const event = {
    id: EVENT,
    source: 'generic',
    name: 'n'.repeat(200),
    severity: null,
    fingerprint: 'f',
    labels: {},
    outcome: 'ignored',
    reason: 'No rule matched; 1 was tried.',
    rule: null,
    job_id: null,
    approval_id: null,
    received_at: '2026-11-21T12:00:00.000Z',
  };
  const server = await standIn(t, (_, response) =>
    sendJson(response, 200, `${JSON.stringify({ schema_version: 1, kind: 'event.list', data: [event] })}\n`),
  );
  const { stdout } = await svc(['event', 'list', '--no-color', '--remote', server.url], { env: TOKEN, columns: 100 });
  const [, row = ''] = stdout.split('\n');
  assert.ok(row.length <= 100 && row.includes(EVENT) && /n… /.test(row), row);
});

test('event get on a server shows the steps too, but not in JSON mode', async (t) => {
  const event = {
    id: EVENT,
    source: 'generic',
    severity: null,
    fingerprint: 'f',
    labels: {},
    outcome: 'ignored',
    reason: 'r',
    rule: null,
    job_id: null,
    approval_id: null,
    received_at: '2026-11-21T12:00:00.000Z',
  };
  const steps = [{ step: 'rule disk', result: 'passed', reason: 'It matched.' }];
  const trace = { event_id: EVENT, outcome: 'ignored', reason: 'r', steps, annotations: { summary: 'full' } };
  const server = await standIn(t, ({ url }, response) => {
    const [kind, data] = url.endsWith('/trace') ? ['event.trace', trace] : ['event.get', event];
    sendJson(response, 200, `${JSON.stringify({ schema_version: 1, kind, data })}\n`);
  });
  const text = await svc(['event', 'get', EVENT, '--remote', server.url], { env: TOKEN });
  assert.match(text.stdout, /^Event .*\nOutcome {6}ignored\n[^]*\n {2}summary {2}full\n[^]*rule disk/);
  const json = await svc(['event', 'get', EVENT, '--remote', server.url, '--output', 'json'], { env: TOKEN });
  assert.deepEqual([json.exitCode, json.stderr], [0, '']);
  assert.equal(server.seen.length, 3);
});
