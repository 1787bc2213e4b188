/**
 * The wall clock jumps while jobs run and requests wait: as after a wrong battery, a restored snapshot, a first NTP
 * answer.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { EXPIRE_EVERY_MS } from '../../../src/daemon/approvals/expire.ts';
import { type Api, type ApiAnswer, TERMINAL, until } from '../../support/api-client.ts';
import { movedClock } from '../../support/fake-time.ts';
import { addWorkspace, items, linesOf } from '../../support/infrastructure.ts';
import { openFixture, type Fixture } from '../../support/fixtures/installation.ts';
import { patient } from '../../support/measure/slowness.ts';
import { needs } from '../../support/tools.ts';

const JUMP_SECONDS = 2 * 3_600;
const YEARS_10_SECONDS = 10 * 365 * 86_400;
/** The two jumps that a job meets, and ten years as with a dead battery. */
const JUMPS = [JUMP_SECONDS, -JUMP_SECONDS, YEARS_10_SECONDS, 0];
/** Long enough that terraform is up before, on a machine that is busy with other tests. */
const TIMEOUT_MS = patient(10_000);
const TIMEOUT = `${TIMEOUT_MS}ms`;

interface Asked {
  readonly approval_id: string;
  readonly job_id: string;
  readonly expires_at: string;
}

interface ApprovalJson {
  readonly state: string;
  readonly decided_at?: string;
}

/** A root whose apply takes this number of seconds. */
function slow(seconds: number): string {
  return (
    'resource "terraform_data" "slow" {\n  provisioner "local-exec" {\n' +
    `    command = "echo up; sleep ${seconds}"\n  }\n}\n`
  );
}

/** Plans and asks for the apply, over HTTP: by the daemon's own clock. */
async function ask(api: Api, name: string): Promise<Asked> {
  const planned = await api.post<{ job_id: string }>(`/workspaces/${name}/plan`, {});
  await api.waitFor(planned.data.job_id, ['succeeded']);
  const plan = (await api.get<{ plan_artifact_id: string }>(`/jobs/${planned.data.job_id}`)).data.plan_artifact_id;
  const asked = await api.post<Asked>(`/workspaces/${name}/apply`, { plan });
  assert.equal(asked.status, 202, asked.text);
  return asked.data;
}

function decide(api: Api, { approval_id: id }: Asked, decision = 'approve'): Promise<ApiAnswer<unknown>> {
  return api.post(`/approvals/${id}/decision`, { decision });
}

async function decider(fixture: Fixture): Promise<string> {
  return (await fixture.call<{ token: string }>('token.create', { name: 'bea', scope: 'approve' })).token;
}

describe('When the wall clock jumps', { skip: needs('faketime', 'terraform or tofu') }, () => {
  test('F10: a job neither times out early nor runs for ever', async (t) => {
    const fixture = await openFixture(t);
    const clock = movedClock(fixture.dir);
    const api = (await fixture.start({ env: clock.env })).api(fixture.token);
    await addWorkspace(fixture, 'slow', slow(3));
    await addWorkspace(fixture, 'stuck', slow(300));
    const fits = (await api.post<{ job_id: string }>('/workspaces/slow/apply', { timeout: '60s' })).data.job_id;
    const stuck = (await api.post<{ job_id: string }>('/workspaces/stuck/apply', { timeout: TIMEOUT })).data.job_id;
    const command = await api.run(['/bin/sleep', '300'], { timeout: TIMEOUT });
    const startedAt = performance.now();
    for (const id of [fits, stuck])
      await until(`${id} is up`, async () => (await linesOf(fixture, id)).some((line) => line.endsWith('up')));
    for (const seconds of JUMPS) {
      clock.set(seconds);
      // Each is seen: the daemon tells its time.
      const { data } = await api.post<{ job_id: string }>('/commands/run', {
        inventory: 'localhost',
        command: ['/bin/true'],
      });
      const { created_at: at } = await fixture.row(data.job_id);
      assert.ok(
        Math.abs(at - Date.now() - seconds * 1000) < JUMP_SECONDS * 500,
        `the daemon's clock was not moved by ${seconds} s`,
      );
    }
    assert.equal((await api.waitFor(fits)).state, 'succeeded', (await linesOf(fixture, fits)).join('\n'));
    for (const id of [stuck, command]) {
      assert.equal((await api.waitFor(id, TERMINAL, 4 * TIMEOUT_MS)).state, 'failed');
      assert.match((await linesOf(fixture, id)).join('\n'), /reached its time-out/);
    }
    const tookMs = performance.now() - startedAt;
    // The time-out, and half of the grace until the sleeping helper of terraform gets its signal.
    assert.ok(tookMs >= TIMEOUT_MS && tookMs <= 4 * TIMEOUT_MS, `the time-outs came after ${Math.round(tookMs)} ms`);
  });

  test('F10: an approval ends at its deadline by the wall clock, at no later time', async (t) => {
    const fixture = await openFixture(t);
    const clock = movedClock(fixture.dir);
    const daemon = await fixture.start({ env: clock.env, args: ['--approval-ttl', '1h'] });
    const [asker, other] = [daemon.api(fixture.token), daemon.api(await decider(fixture))];
    const names = ['forward', 'unseen', 'back'];
    for (const name of names) await addWorkspace(fixture, name, items(1), { approve_when: 'true' });
    const [forward, unseen, back] = (await Promise.all(names.map((name) => ask(asker, name)))) as [Asked, Asked, Asked];
    const stateOf = async ({ approval_id: id }: Asked): Promise<ApprovalJson> =>
      (await asker.get<ApprovalJson>(`/approvals/${id}`)).data;

    // Back: the deadline is three hours away then, and a yes is a yes.
    clock.set(-JUMP_SECONDS);
    assert.equal((await decide(other, back)).status, 200);
    assert.equal((await asker.waitFor(back.job_id)).state, 'succeeded');

    clock.set(JUMP_SECONDS);
    const late = await decide(other, forward);
    assert.deepEqual([late.status, late.error?.code], [409, 'conflict'], late.text);
    assert.match(late.error?.message ?? '', /expired/);
    // No event reports a jump: the daemon looks at its deadlines once in this time.
    for (const asked of [forward, unseen]) {
      const ended = await until(
        `${asked.approval_id} is expired`,
        async () => {
          const now = await stateOf(asked);
          return now.state === 'expired' ? now : undefined;
        },
        EXPIRE_EVERY_MS * 2,
      );
      assert.ok(Date.parse(ended.decided_at ?? '') >= Date.parse(asked.expires_at));
      assert.equal((await asker.job(asked.job_id)).state, 'cancelled');
    }

    for (const seconds of [0, -JUMP_SECONDS]) {
      clock.set(seconds);
      for (const asked of [forward, unseen]) {
        assert.equal((await decide(other, asked)).status, 409);
        assert.equal((await stateOf(asked)).state, 'expired');
      }
    }
    await asker.waitFor(await asker.run(['/bin/true']));
    for (const asked of [forward, unseen]) {
      const { state, started_at: startedAt } = await asker.job(asked.job_id);
      assert.deepEqual({ state, startedAt }, { state: 'cancelled', startedAt: null });
    }
    assert.equal(await daemon.stop(), 0);
  });
});
