import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { svc } from '../../../../test/support/terminal.ts';
import { sendEvents, sendJson, standIn, type StandIn } from '../../../../test/support/stand-in-server.ts';
import { Failure } from '../../../domain/failure.ts';
import { encodeFailure } from '../../../operations/core/envelope.ts';

const ID = 'job_01m7yd4zyke00anp2z332d2j5p';
const PLAN = 'art_01m7yd4zyke00anp2z332d2j5p';
const AT = '2026-11-21T12:00:00.000Z';
const TOKEN = { SVC_TOKEN: 'svc_test' };
const DATA = { id: ID, workspace: 'net', plan_artifact_id: PLAN };
const JOB = `${JSON.stringify({ schema_version: 1, kind: 'job.get', data: DATA })}\n`;

/** A server on which any run of a workspace is a job that prints a line and ends so. */
function runServer(t: TestContext, state: string, code: number | null): Promise<StandIn> {
  return standIn(t, ({ method, url }, response) => {
    if (method === 'POST')
      sendJson(
        response,
        202,
        `{"schema_version":1,"kind":"job.enqueued","data":{"job_id":"${ID}","state":"queued"}}\n`,
      );
    else if (!url.includes('/stream')) sendJson(response, 200, JOB);
    else {
      const log = { seq: 1, at: AT, type: 'log', stream: 'stdout', text: 'Plan: 1 to add' };
      sendEvents(response, [
        { event: 'log', id: 1, data: JSON.stringify(log) },
        { event: 'end', data: JSON.stringify({ state, exit_code: code }) },
      ]);
      response.end();
    }
  });
}

test('workspace plan --wait: the output is ours, and what comes next is said on standard error', async (t) => {
  const server = await runServer(t, 'succeeded', 0);
  const ran = await svc(['workspace', 'plan', 'net', '--wait', '--remote', server.url], { env: TOKEN });
  assert.deepEqual([ran.exitCode, ran.stdout], [0, 'Plan: 1 to add\n']);
  assert.match(
    ran.stderr,
    new RegExp(`\\nApply it: svc workspace apply net --plan ${PLAN} --remote ${server.url}\\n$`),
  );
});

test('--wait exits with the code of the job, 1 if no tool ran, and proposes no plan that was not made', async (t) => {
  for (const [state, code, exit] of [
    ['failed', 1, 1],
    ['failed', null, 1],
    ['failed', 137, 137],
    ['cancelled', null, 1],
  ] as const) {
    const server = await runServer(t, state, code);
    const ran = await svc(['workspace', 'plan', 'net', '--wait', '--remote', server.url], { env: TOKEN });
    assert.equal(ran.exitCode, exit);
    assert.doesNotMatch(ran.stderr, /svc workspace apply/);
  }
  const changed = await runServer(t, 'succeeded', 2);
  assert.equal(
    (await svc(['workspace', 'plan', 'net', '--wait', '--detailed-exitcode', '--remote', changed.url], { env: TOKEN }))
      .exitCode,
    2,
  );
  assert.equal(changed.seen[0]?.body, '{"detailed_exitcode":true,"followed":true}');
  assert.match(changed.seen[1]?.url ?? '', /followed=true/);
});

test('--wait --output json: standard output is the job; its output is written to standard error', async (t) => {
  for (const verb of ['plan', 'apply', 'destroy']) {
    const server = await runServer(t, 'succeeded', 0);
    const ran = await svc(['workspace', verb, 'net', '--yes', '--wait', '--output', 'json', '--remote', server.url], {
      env: TOKEN,
    });
    assert.deepEqual([ran.exitCode, ran.stdout, ran.stderr], [0, JOB, `Queued job ${ID}.\nPlan: 1 to add\n`], verb);
  }
});

test('an apply that waits for a decision is a success, is not followed, and says who can decide', async (t) => {
  const data = {
    approval_id: 'apr_1',
    job_id: ID,
    state: 'awaiting_approval',
    expires_at: AT,
    ttl_seconds: 60,
    policy: 'require_approval',
    plan_artifact_id: PLAN,
  };
  const body = `${JSON.stringify({ schema_version: 1, kind: 'approval.pending', data })}\n`;
  const none = '{"schema_version":1,"kind":"approval.list","data":[]}\n';
  const server = await standIn(t, ({ method }, response) =>
    method === 'GET' ? sendJson(response, 200, none) : sendJson(response, 202, body),
  );
  const argv = ['workspace', 'apply', 'net', '--plan', PLAN, '--wait', '--remote', server.url];
  const text = await svc(argv, { env: TOKEN });
  assert.deepEqual([text.exitCode, text.stderr], [0, '']);
  assert.match(
    text.stdout,
    /^◆ Waiting for approval apr_1 \(policy require_approval\), until .*Exit 0: the request was accepted\.\n/,
  );
  assert.deepEqual(await svc([...argv, '--output', 'json'], { env: TOKEN }), { exitCode: 0, stdout: body, stderr: '' });
  assert.equal(server.seen.filter(({ method }) => method === 'POST').length, 2);
});

test('a stale plan says who moved the state and which plan to make; in JSON mode the envelope is kept', async (t) => {
  const stale = {
    plan_serial: 1,
    current_serial: 2,
    moved_by_job: ID,
    moved_via: 'api',
    moved_at: '2026-11-21T11:50:00.000Z',
  };
  const body = encodeFailure(new Failure('stale_plan', 'The workspace moved on.', { stale }));
  const server = await standIn(t, (_, response) => sendJson(response, 409, body));
  const argv = ['workspace', 'apply', 'net', '--plan', PLAN, '--remote', server.url];
  const text = await svc(argv, { env: TOKEN });
  const moved = `The plan was made from serial 1; the state was changed to serial 2 by job ${ID} via api (10m ago).`;
  const again = `Make a new plan: svc workspace plan net --remote ${server.url}`;
  assert.deepEqual(text, {
    exitCode: 5,
    stdout: '',
    stderr: `Error: The workspace moved on.\nHint: ${moved} ${again}\n`,
  });
  assert.deepEqual(await svc([...argv, '--output', 'json'], { env: TOKEN }), { exitCode: 5, stdout: body, stderr: '' });
  const approve = await svc(['approval', 'approve', 'apr_01m7yd4zyke00anp2z332d2j5p', '--remote', server.url], {
    env: TOKEN,
  });
  assert.match(approve.stderr, /Make a new plan: svc workspace plan NAME --remote /);
});
