/** An apply whose helpers will not go: it ends all the same, nothing of it lives on, and what it made is known. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { until } from '../../support/api-client.ts';
import { addWorkspace, linesOf } from '../../support/infrastructure.ts';
import { keptState } from '../../support/faults/kept-state.ts';
import { openFixture, processesOf, type Fixture } from '../../support/fixtures/installation.ts';
import { needs } from '../../support/tools.ts';

/** The grace is 10 s, and what is killed is gone within moments. */
const TREE_LIMIT_MS = 15_000;
/** Long enough that every tool is up before, on a machine that is busy with other tests. */
const TIMEOUT = '15s';
const TIMEOUT_MS = 15_000;

/**
 * The commands of a provisioner that ignores signals, and starts a process in a new session that also ignores them and
 * holds its input and output.
 */
const STUBBORN = [
  `trap '' TERM HUP INT`,
  `setsid sh -c 'trap \\"\\" TERM HUP INT; while :; do sleep 1; done' <&0 &`,
  `(setsid sleep 300 &)`,
  'echo up',
  'while :; do sleep 1; done',
].join('\n');

/** Three resources one after the other; the second never comes to its end. */
const ROOT = `
resource "terraform_data" "made" { input = 1 }
resource "terraform_data" "stuck" {
  input      = 2
  depends_on = [terraform_data.made]
  provisioner "local-exec" {
    command = <<-EOT
${STUBBORN.replaceAll('\\"', '"')}
    EOT
  }
}
resource "terraform_data" "later" {
  input      = 3
  depends_on = [terraform_data.stuck]
}
`;

async function applyUntilUp(fixture: Fixture, name: string, raw: object): Promise<string> {
  await addWorkspace(fixture, name, ROOT);
  const { job_id: id } = await fixture.call<{ job_id: string }>('workspace.apply', { name, ...raw });
  await until(`the provisioner of ${name} is up`, async () =>
    (await linesOf(fixture, id)).some((line) => line.endsWith('up')),
  );
  return id;
}

describe('An apply with helpers that do not end', { skip: needs('terraform or tofu', 'CAP_SYS_PTRACE') }, () => {
  test('F12: after a cancel and after a time-out no process of it is left within 15 s', async (t) => {
    const fixture = await openFixture(t);
    await fixture.serve();
    const [late, cancelled] = await Promise.all([
      applyUntilUp(fixture, 'late', { timeout: TIMEOUT }),
      applyUntilUp(fixture, 'cancelled', {}),
    ]);
    const ids = [late, cancelled];
    for (const id of ids)
      assert.ok(processesOf(new Set([id])).length >= 4, 'terraform, its provisioner and both helpers are to be seen');
    const lateFrom = ((await fixture.row(late)).started_at ?? Number.NaN) + TIMEOUT_MS;
    const askedAt = Date.now();
    await fixture.call('job.cancel', { id: cancelled });

    const ended = async (id: string, sinceMs: number): Promise<void> => {
      await until(`no process of ${id} is left`, () => processesOf(new Set([id])).length === 0, 60_000);
      const tookMs = Date.now() - sinceMs;
      assert.ok(tookMs <= TREE_LIMIT_MS, `the last process of ${id} was there for ${Math.round(tookMs)} ms`);
      t.diagnostic(`${id}: ${Math.round(tookMs)} of at most ${TREE_LIMIT_MS} ms`);
    };
    await Promise.all([ended(cancelled, askedAt), ended(late, lateFrom)]);
    const [lateRow, cancelledRow] = await Promise.all(
      ids.map((id) => fixture.waitFor(id, ['failed', 'cancelled', 'succeeded'])),
    );
    assert.deepEqual([lateRow?.state, cancelledRow?.state], ['failed', 'cancelled']);
    assert.match((await linesOf(fixture, late)).join('\n'), /reached its time-out/);
    for (const [name, id] of [
      ['late', late],
      ['cancelled', cancelled],
    ] as const) {
      const state = await keptState(fixture, name);
      assert.equal(state?.jobId, id);
      // Terraform heard how its provisioner ended, so it could still say that the second one is half made.
      assert.deepEqual(
        [...(state?.resources ?? [])],
        [
          ['made', { tainted: false }],
          ['stuck', { tainted: true }],
        ],
      );
    }
    assert.deepEqual(processesOf(new Set(ids)), []);
  });
});
