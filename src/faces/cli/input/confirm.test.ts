import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { svc } from '../../../../test/support/terminal.ts';
import { sendFailure, sendJson, standIn, type StandIn } from '../../../../test/support/stand-in-server.ts';
import type { FailureCode } from '../../../domain/failure.ts';

const ID = 'apr_01m7yd4zyke00anp2z332d2j5p';
const TOKEN = { SVC_TOKEN: 'svc_test' };
const PENDING = { id: ID, state: 'pending', workspace: 'net', plan_artifact_id: 'art_1' };
const DECIDED = { approval_id: ID, job_id: 'job_1', decision: 'approve', state: 'approved', job_state: 'queued' };

function envelope(kind: string, data: unknown): string {
  return `${JSON.stringify({ schema_version: 1, kind, data })}\n`;
}

/** A server with one approval, whose plan destroys the given number of resources or is refused. */
function approvalServer(t: TestContext, approval: object, plan: number | FailureCode): Promise<StandIn> {
  return standIn(t, ({ url }, response) => {
    const path = url.replace('/api/v1', '');
    if (path === `/approvals/${ID}`) sendJson(response, 200, envelope('approval.get', approval));
    else if (path === `/approvals/${ID}/decision`) sendJson(response, 200, envelope('approval.decision', DECIDED));
    else if (path !== `/approvals/${ID}/plan`) sendFailure(response, 'not_found');
    else if (typeof plan === 'string') sendFailure(response, plan);
    else sendJson(response, 200, envelope('approval.plan', { destroys: Array.from({ length: plan }, () => ({})) }));
  });
}

function decisions({ seen }: StandIn): number {
  return seen.filter(({ url }) => url.endsWith('/decision')).length;
}

test('a person who approves a plan that destroys something types the name of the workspace', async (t) => {
  const server = await approvalServer(t, PENDING, 3);
  const argv = ['approval', 'approve', ID, '--remote', server.url];
  for (const typed of ['\n', 'y\n', 'yes\n', 'nets\n', '']) {
    const ran = await svc(argv, { env: TOKEN, typed });
    assert.equal(ran.exitCode, 1, JSON.stringify(typed));
    assert.match(ran.stderr, /^This destroys 3 resources in net\. Type net to approve: /);
    assert.match(ran.stderr, /not confirmed; nothing was done/);
  }
  assert.equal(decisions(server), 0);
  const ran = await svc(argv, { env: TOKEN, typed: 'net\n' });
  assert.equal(ran.exitCode, 0, ran.stderr);
  assert.equal(decisions(server), 1);
  assert.match(ran.stdout, /^Approved: /);
});

test('point 38: no question with --yes, without a terminal, or for a rejection', async (t) => {
  const server = await approvalServer(t, PENDING, 3);
  const runs: readonly (readonly [verb: string, more: string[], typed?: string])[] = [
    ['approve', ['--yes'], 'n\n'],
    ['approve', []],
    ['approve', ['--no-input'], 'n\n'],
    ['reject', [], 'n\n'],
  ];
  for (const [verb, more, typed] of runs) {
    const ran = await svc(['approval', verb, ID, ...more, '--remote', server.url], {
      env: TOKEN,
      ...(typed === undefined ? {} : { typed }),
    });
    assert.equal(ran.exitCode, 0, `${verb} ${more.join(' ')}: ${ran.stderr}`);
    assert.equal(ran.stderr, '');
  }
  assert.deepEqual(
    server.seen.map(({ url }) => url),
    Array.from(runs, () => `/api/v1/approvals/${ID}/decision`),
  );
});

test('a plan that destroys nothing, and one that the token may not see, is approved without a question', async (t) => {
  for (const plan of [0, 'forbidden', 'not_found'] as const) {
    const server = await approvalServer(t, PENDING, plan);
    const ran = await svc(['approval', 'approve', ID, '--remote', server.url], { env: TOKEN, typed: 'n\n' });
    assert.deepEqual([ran.exitCode, ran.stderr, decisions(server)], [0, '', 1], String(plan));
  }
});

test('no question for an approval that is no longer pending; the decision refuses it and says why', async (t) => {
  const stale = { plan_serial: 1, current_serial: 2 };
  for (const approval of [
    { ...PENDING, state: 'rejected' },
    { ...PENDING, stale },
    { ...PENDING, plan_artifact_id: null },
  ]) {
    const server = await approvalServer(t, approval, 3);
    await svc(['approval', 'approve', ID, '--remote', server.url], { env: TOKEN, typed: 'n\n' });
    assert.equal(decisions(server), 1);
  }
});

test('a plan that cannot be shown, such as an altered one, is not approved at a prompt', async (t) => {
  const server = await approvalServer(t, PENDING, 'conflict');
  const ran = await svc(['approval', 'approve', ID, '--remote', server.url], { env: TOKEN, typed: 'net\n' });
  assert.equal(ran.exitCode, 5);
  assert.equal(decisions(server), 0);
});

test('workspace destroy asks for the name at a terminal, and needs --yes without one', async (t) => {
  const server = await standIn(t, ({ url }, response) =>
    url.endsWith('/whoami')
      ? sendJson(response, 200, envelope('whoami', { name: 'ana', scope: 'operator' }))
      : sendJson(response, 202, envelope('job.enqueued', { job_id: 'job_1', state: 'queued' })),
  );
  const queued = () => server.seen.filter(({ url }) => url.endsWith('/destroy')).length;
  const argv = ['workspace', 'destroy', 'net', '--remote', server.url];
  const refused = await svc(argv, { env: TOKEN, typed: 'y\n' });
  assert.deepEqual([refused.exitCode, queued()], [1, 0]);
  assert.match(refused.stderr, /^This destroys everything in net, without a second person\. Type net to go on: /);
  assert.equal((await svc(argv, { env: TOKEN, typed: 'net\n' })).exitCode, 0);
  for (const more of [['--no-input'], []]) {
    const silent = await svc([...argv, ...more], { env: TOKEN });
    assert.deepEqual([silent.exitCode, queued()], [1, 1]);
    assert.match(silent.stderr, /^Error: svc workspace destroy: needs a confirmation; use --yes\./);
  }
  assert.equal((await svc([...argv, '--yes'], { env: TOKEN })).exitCode, 0);
  assert.equal(queued(), 2);
});

test('who may not do it is asked nothing: the call refuses, and says why', async (t) => {
  const server = await standIn(t, ({ url }, response) =>
    url.endsWith('/whoami')
      ? sendJson(response, 200, envelope('whoami', { name: 'rita', scope: 'readonly' }))
      : sendFailure(response, 'forbidden'),
  );
  const ran = await svc(['workspace', 'destroy', 'net', '--remote', server.url], { env: TOKEN, typed: 'net\n' });
  assert.equal(ran.exitCode, 4);
  assert.match(ran.stderr, /^Error: /);
});
