import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { sendFailure, sendJson, standIn, type StandIn } from '../../../../test/support/stand-in-server.ts';
import { svc } from '../../../../test/support/terminal.ts';

const TOKEN = { SVC_TOKEN: 'svc_test' };

/** A server whose answers follow each other; the last one stays. Each is: cordoned, running jobs. */
function readinessServer(t: TestContext, answers: readonly (readonly [boolean, number])[]): Promise<StandIn> {
  let asked = 0;
  return standIn(t, ({ url }, response) => {
    if (url.endsWith('/nodes')) return sendFailure(response, 'unavailable');
    const [cordoned, running] = answers[Math.min(asked++, answers.length - 1)]!;
    const job = { job_id: 'job_1', kind: 'command', node: 'one', started_at: '2026-05-01T12:00:00.000Z' };
    const data = {
      cordoned,
      in_flight: running,
      safe_to_reboot: cordoned && running === 0,
      running: Array.from({ length: running }, () => job),
    };
    sendJson(response, 200, `${JSON.stringify({ schema_version: 1, kind: 'maintenance.readiness', data })}\n`);
  });
}

const WAIT = ['maintenance', 'readiness', '--wait'];

test('readiness --wait: waits until no job runs, names each change, and asks for the same node', async (t) => {
  const server = await readinessServer(t, [
    [true, 2],
    [true, 2],
    [true, 1],
    [true, 0],
  ]);
  const ran = await svc([...WAIT, '--node', 'one', '--remote', server.url], { env: TOKEN });
  assert.equal(ran.exitCode, 0, ran.stderr);
  assert.equal(ran.stderr, 'Waiting: 2 jobs run.\nWaiting: 1 job runs.\n');
  assert.match(ran.stdout, /^Safe to reboot +yes\n/);
  const asked = new Set(server.seen.map(({ url }) => url).filter((url) => !url.endsWith('/nodes')));
  assert.deepEqual(asked, new Set(['/api/v1/maintenance/readiness?node=one']));
});

test('readiness --wait: without a cordon it is a conflict at once; at the time-out it is busy', async (t) => {
  const open = await svc([...WAIT, '--remote', (await readinessServer(t, [[false, 1]])).url], { env: TOKEN });
  assert.equal(open.exitCode, 5);
  assert.match(open.stderr, /run svc maintenance cordon first/);
  const busy = await readinessServer(t, [[true, 1]]);
  const late = await svc([...WAIT, '--timeout', '1s', '--remote', busy.url], { env: TOKEN });
  assert.equal(late.exitCode, 7);
  assert.match(late.stderr, /Not safe to reboot: 1 job runs\./);
  assert.equal((await svc(['maintenance', 'readiness', '--timeout', '1s'], { env: TOKEN })).exitCode, 1);
});
