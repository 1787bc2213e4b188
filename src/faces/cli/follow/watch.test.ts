import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { gated } from '../../../../test/support/fixtures/approvals.ts';
import { type Program, startProgram } from '../../../../test/support/program.ts';
import { sendEvents, sendFailure, sendJson, standIn } from '../../../../test/support/stand-in-server.ts';
import { appOf, type Ran, svc } from '../../../../test/support/terminal.ts';

const TOKEN = { SVC_TOKEN: 'svc_test' };
const ONE = 'apr_01m7yd4zyke00anp2z332d2j5p';
const TWO = 'apr_01m7yd4zyke00anp2z332d2j5q';

function waiting(id: string, runbook = 'apply:net'): object {
  return { id, runbook, requested_by: 'ci', policy: 'require_approval', expires_at: '2026-11-21T12:30:00.000Z' };
}

/** `svc approval watch` on a server that sends these lists. Of the approvals it knows the first alone. */
async function watched(t: TestContext, lists: readonly (readonly object[])[], ...more: string[]): Promise<Ran> {
  const server = await standIn(t, (request, response) => {
    const path = request.url.replace('/api/v1', '');
    if (path === '/approvals/stream') {
      sendEvents(response, [
        ...lists.map((list) => ({ event: 'approvals', data: JSON.stringify(list) })),
        { event: 'end', data: '{}' },
      ]);
      response.end();
    } else if (path === `/approvals/${ONE}`) {
      const decided = {
        ...waiting(ONE),
        state: 'rejected',
        decided_by: 'ana\u001b[2J',
        decided_via: 'link',
        reason: 'not on a Friday',
      };
      sendJson(response, 200, `${JSON.stringify({ schema_version: 1, kind: 'approval.get', data: decided })}\n`);
    } else sendFailure(response, 'not_found');
  });
  return svc(['approval', 'watch', '--remote', server.url, ...more], { env: TOKEN });
}

test('approval watch shows pending and new approvals and how the others ended, in safe letters', async (t) => {
  const { stdout, exitCode } = await watched(t, [
    [waiting(TWO, 'apply:dns'), waiting(ONE)],
    [waiting(TWO, 'apply:dns')],
    [],
  ]);
  assert.deepEqual(stdout.split('\n'), [
    `waiting   ${ONE}  apply:net, requested by ci: require_approval; expires in 30m`,
    `waiting   ${TWO}  apply:dns, requested by ci: require_approval; expires in 30m`,
    String.raw`rejected  ${ONE}  apply:net by ana\u001b[2J via link: not on a Friday`,
    `settled   ${TWO}  apply:dns`,
    '',
  ]);
  assert.equal(exitCode, 130);
});

test('approval watch says so where nothing waits', async (t) => {
  const { stdout, stderr } = await watched(t, [[]]);
  assert.equal(stdout, '');
  assert.match(stderr, /No pending approvals/);
});

test('approval watch in JSON mode prints each list as it was sent, and none twice', async (t) => {
  const { stdout } = await watched(t, [[], [waiting(ONE)], [waiting(ONE)], []], '--output', 'json');
  assert.equal(stdout, `[]\n${JSON.stringify([waiting(ONE)])}\n[]\n`);
});

test('approval watch reads the list while all streams are taken, and then the stream', async (t) => {
  const asked: string[] = [];
  const server = await standIn(t, ({ url }, response) => {
    const path = url.replace('/api/v1', '');
    asked.push(path);
    const isTaken = asked.filter((each) => each === '/approvals').length < 2;
    if (path === '/approvals')
      return sendJson(
        response,
        200,
        JSON.stringify({ schema_version: 1, kind: 'approval.list', data: [waiting(ONE)] }),
      );
    if (isTaken) return sendFailure(response, 'streams_over_cap');
    sendEvents(response, [
      { event: 'approvals', data: JSON.stringify([waiting(ONE)]) },
      { event: 'approvals', data: '[]' },
      { event: 'end', data: '{}' },
    ]);
    return response.end();
  });
  const { stdout, stderr } = await svc(['approval', 'watch', '--output', 'json', '--remote', server.url], {
    env: TOKEN,
  });
  assert.equal(stdout, `${JSON.stringify([waiting(ONE)])}\n[]\n`);
  assert.equal(stderr.match(/polling every 1s instead/g)?.length, 1);
  assert.deepEqual(asked, ['/approvals/stream', '/approvals', '/approvals/stream', '/approvals', '/approvals/stream']);
});

test('approval watch on the data directory ends with Ctrl-C', async (t) => {
  const program = await startProgram(t);
  const { exitCode } = await svc(['approval', 'watch'], {
    app: appOf(program),
    interruptible: (interrupt) => void setImmediate(interrupt),
  });
  assert.equal(exitCode, 130);
});

async function decideLocally(program: Program, verb: 'approve' | 'reject', id: string): Promise<Ran> {
  return svc(['approval', verb, id, '--reason', 'read it twice', '--output', 'json'], { app: appOf(program) });
}

test('approval approve and reject decide what their names say, as the local user', async (t) => {
  const program = await startProgram(t);
  for (const [verb, state] of [
    ['approve', 'approved'],
    ['reject', 'rejected'],
  ] as const) {
    const { apr } = await gated(program, { workspace: verb });
    const { exitCode, stdout } = await decideLocally(program, verb, apr);
    assert.equal(exitCode, 0, stdout);
    assert.partialDeepStrictEqual(JSON.parse(stdout), {
      kind: 'approval.decision',
      data: { decision: verb, state, decided_by: 'local:ana', decided_via: 'cli', reason: 'read it twice' },
    });
    const again = await decideLocally(program, verb, apr);
    assert.equal(again.exitCode, 5, again.stderr);
  }
});

test('T28: approval approve refuses the local user who asked, with exit code 4', async (t) => {
  const program = await startProgram(t);
  const { apr } = await gated(program, { requestedBy: 'local:ana' });
  const { exitCode, stdout } = await decideLocally(program, 'approve', apr);
  assert.equal(exitCode, 4);
  assert.match(stdout, /another person must decide/);
  assert.match(
    (await svc(['approval', 'get', apr, '--output', 'json'], { app: appOf(program) })).stdout,
    /"state":"pending"/,
  );
});
