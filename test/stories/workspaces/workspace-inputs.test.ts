/** What a workspace gives to each run, and the way back to an older state, with the real tool. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openFixture } from '../../support/fixtures/installation.ts';
import { addWorkspace, linesOf, runToEnd } from '../../support/infrastructure.ts';
import { needs } from '../../support/tools.ts';

const ROOT = `
variable "zone" { default = "a" }
variable "size" { default = 1 }
variable "token" { sensitive = true }
resource "terraform_data" "box" { input = "\${var.zone}-\${var.size}-\${nonsensitive(sha256(var.token))}" }
`;

interface Workspace {
  readonly serial: number;
  readonly drift: string;
  readonly inputs: object;
}

test(
  'A workspace gives variables and secrets to each run, and a state can be restored',
  { skip: needs('terraform or tofu', 'Landlock ABI 4') },
  async (t) => {
    const fixture = await openFixture(t);
    await fixture.serve();
    const file = join(fixture.dir, 'net.tfvars');
    writeFileSync(file, 'size = 7\n');
    await fixture.call('secret.set', { secret: 'net/token', value: 'a-secret-of-a-run' });
    const inputs = { vars: { zone: 'b' }, var_files: [file], run_secrets: { token: 'net/token' } };
    await addWorkspace(fixture, 'net', ROOT, inputs);
    const get = () => fixture.call<Workspace>('workspace.get', { name: 'net' });
    assert.deepEqual((await get()).inputs, { vars: ['zone'], var_files: ['net.tfvars'], run_secrets: ['token'] });
    const ended = async (verb: 'apply' | 'drift' | 'plan', raw: object = {}) => {
      const job = await runToEnd(fixture, verb, 'net', raw);
      assert.equal(job.state, 'succeeded', (await linesOf(fixture, job.id)).join('\n'));
      return job;
    };
    await ended('apply');
    // Without the inputs this was drift: other values than the defaults.
    await ended('drift');
    const first = await get();
    assert.equal(first.drift, 'clean');
    const { plan_artifact_id: plan } = await ended('plan');
    await ended('apply', { plan });
    await fixture.call('workspace.update', { name: 'net', vars: { zone: 'c' } });
    await ended('drift');
    assert.equal((await get()).drift, 'drifted');
    await ended('apply');
    const applied = await get();
    assert.ok(applied.serial > first.serial);
    await fixture.call('workspace.restore', { name: 'net', version: 1 });
    const restored = await get();
    assert.equal(restored.serial, applied.serial + 1);
    const to = join(fixture.dir, 'net.tfstate');
    await fixture.call('workspace.export', { name: 'net', to });
    const state = JSON.parse(readFileSync(to, 'utf8')) as { serial: number };
    assert.equal(state.serial, restored.serial);
    assert.match(JSON.stringify(state), /b-7-/);
    await ended('drift');
    assert.equal((await get()).drift, 'drifted', 'the restored state has the old value');
    writeFileSync(to, JSON.stringify({ ...state, lineage: 'another' }));
    await assert.rejects(fixture.call('workspace.restore', { name: 'net', file: to }), { code: 'conflict' });
    await fixture.call('workspace.restore', { name: 'net', file: to, force: true });
    for (const bad of [{ file: '/dev/zero' }, {}, { version: 1, file: to }, { file: `${to}.none` }, { file }])
      await assert.rejects(fixture.call('workspace.restore', { name: 'net', ...bad }), { code: 'invalid_argument' });
    await assert.rejects(fixture.call('workspace.restore', { name: 'net', version: 99 }), { code: 'not_found' });
    await fixture.call('workspace.update', { name: 'net', no_inputs: true });
    assert.deepEqual((await get()).inputs, { vars: [], var_files: [], run_secrets: [] });
    for (const bad of [{ vars: { 'a b': 'x' } }, { var_files: ['main.tf'] }, { var_files: [`${file}.tfvars`] }])
      await assert.rejects(fixture.call('workspace.update', { name: 'net', ...bad }), { code: 'invalid_argument' });
    await assert.rejects(fixture.call('workspace.update', { name: 'net', run_secrets: { token: 'net/none' } }), {
      code: 'not_found',
    });
  },
);
