/** A saved plan runs once, as it was made, from the state that it was made for, or not at all. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { Failure } from '../../../src/domain/failure.ts';
import type { ArtifactRow, JobRow } from '../../../src/store/schema/schema.ts';
import { addWorkspace, items, linesOf, planViewOf, runToEnd } from '../../support/infrastructure.ts';
import { openFixture, type Fixture } from '../../support/fixtures/installation.ts';
import { rewrite } from '../../support/store/rewrite.ts';
import { needs } from '../../support/tools.ts';

const CANARY = 'canary-7f3a9c51e2d84b06';

async function planOf(fixture: Fixture, name: string, raw: object = {}): Promise<string> {
  const job = await runToEnd(fixture, 'plan', name, raw);
  assert.equal(job.state, 'succeeded', (await linesOf(fixture, job.id)).join('\n'));
  return job.plan_artifact_id ?? assert.fail('the plan run has named no plan');
}

function alter(fixture: Fixture, id: string, change: Partial<ArtifactRow>): Promise<unknown> {
  return fixture.store.write((tx) => tx.db.updateTable('artifacts').set(change).where('id', '=', id).execute());
}

async function sealedOf(fixture: Fixture, id: string): Promise<Buffer> {
  const row = await fixture.store.db
    .selectFrom('artifacts')
    .select('sealed')
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  return Buffer.from(row.sealed);
}

/** Applies it; the run is to fail before the tool starts. */
async function refused(fixture: Fixture, name: string, plan: string, why: RegExp): Promise<JobRow> {
  const job = await runToEnd(fixture, 'apply', name, { plan });
  const lines = await linesOf(fixture, job.id);
  assert.equal(job.state, 'failed', lines.join('\n'));
  assert.equal(job.exit_code, null, 'a tool was started');
  assert.equal(job.leader_pid, null, 'a process was started');
  assert.match(lines.join('\n'), why);
  return job;
}

describe('A saved plan', { skip: needs('terraform or tofu', 'Landlock ABI 4') }, () => {
  let fixture: Fixture;
  const dirs: Record<string, string> = {};
  before(async () => {
    fixture = await openFixture({ after: (step) => void endings.push(step) });
    await fixture.serve();
    for (const name of ['one', 'two']) dirs[name] = await addWorkspace(fixture, name, items(2));
  });
  const endings: (() => Promise<void>)[] = [];
  // The fixture outlives the single tests.
  test.after(async () => {
    for (const step of endings.toReversed()) await step();
  });

  test('T19: flipped, cut, exchanged and replayed plans fail before terraform starts', async () => {
    const [first, second] = [await planOf(fixture, 'one'), await planOf(fixture, 'two')];
    const sealed = await sealedOf(fixture, first);
    const flipped = Buffer.from(sealed);
    flipped[sealed.length >> 1]! ^= 1;
    await alter(fixture, first, { sealed: flipped });
    const job = await refused(fixture, 'one', first, /Integrity: plan .* altered\. Make a new plan\. Nothing was run/);
    const { rows } = {
      rows: await fixture.store.db.selectFrom('ledger').selectAll().where('target', '=', job.id).execute(),
    };
    assert.ok(rows.some((row) => row.operation === 'job.refuse'));
    const { hash } = await import('node:crypto');
    // Also where the digest was written again: the seal itself does not open.
    const cut = sealed.subarray(0, -1);
    const other = await planOf(fixture, 'one');
    await alter(fixture, other, { sealed: cut, digest: hash('sha256', cut) });
    await refused(fixture, 'one', other, /Integrity/);
    // The plan of another workspace, and an older plan of this one, under the new name.
    const third = await planOf(fixture, 'one');
    const foreign = await sealedOf(fixture, second);
    await alter(fixture, third, { sealed: foreign, digest: hash('sha256', foreign) });
    await refused(fixture, 'one', third, /Integrity/);
    const fourth = await planOf(fixture, 'one');
    await alter(fixture, fourth, { sealed, digest: hash('sha256', sealed) });
    await refused(fixture, 'one', fourth, /Integrity/);
    // Nor does one whose verdict somebody made milder.
    await fixture.call('workspace.update', { name: 'one', deny_when: 'true' });
    const denied = await planOf(fixture, 'one');
    await assert.rejects(
      fixture.call('workspace.apply', { name: 'one', plan: denied }),
      (error) => error instanceof Failure && error.code === 'conflict',
    );
    // With its tag, as only the service can: the seal holds too.
    await rewrite(fixture.store, 'artifacts', { verdict: 'clean' }, denied);
    await refused(fixture, 'one', denied, /Integrity/);
    await assert.rejects(
      fixture.call('workspace.apply', { name: 'one', plan: fourth }),
      (error) => error instanceof Failure && error.code === 'conflict' && /once/.test(error.message),
    );
  });

  test('A clean plan applies straight through, once, and the serial moves', async () => {
    const plan = await planOf(fixture, 'two');
    const job = await runToEnd(fixture, 'apply', 'two', { plan });
    assert.equal(job.state, 'succeeded', (await linesOf(fixture, job.id)).join('\n'));
    assert.equal(job.exit_code, 0);
    assert.equal(job.plan_artifact_id, plan);
    const seen = await fixture.call<{ serial: number; last_apply_job_id: string }>('workspace.get', { name: 'two' });
    assert.ok(seen.serial > 0);
    assert.equal(seen.last_apply_job_id, job.id);
    const to = join(fixture.dir, 'two.tfstate');
    await fixture.call('workspace.export', { name: 'two', to });
    assert.equal(statSync(to).mode & 0o777, 0o600);
    assert.equal((JSON.parse(readFileSync(to, 'utf8')) as { serial: number }).serial, seen.serial);
    await assert.rejects(
      fixture.call('workspace.export', { name: 'two', to }),
      (error) => error instanceof Failure && error.code === 'duplicate',
    );
    await assert.rejects(
      fixture.call('workspace.export', { name: 'two', version: 9, to: `${to}.9` }),
      (error) => error instanceof Failure && error.code === 'not_found',
    );
    await assert.rejects(
      fixture.call('workspace.apply', { name: 'two', plan }),
      (error) => error instanceof Failure && error.code === 'conflict',
    );
  });

  test('T21: a plan that the state has moved past is refused when asked for, with who moved it', async () => {
    const stale = await planOf(fixture, 'two');
    writeFileSync(join(dirs['two']!, 'main.tf'), items(3));
    const mover = await runToEnd(fixture, 'apply', 'two');
    assert.equal(mover.state, 'succeeded');
    await assert.rejects(fixture.call('workspace.apply', { name: 'two', plan: stale }), (error) => {
      assert.ok(error instanceof Failure);
      assert.equal(error.code, 'stale_plan');
      const block = error.extra['stale'] as { moved_by_job: string; plan_serial: number; current_serial: number };
      assert.equal(block.moved_by_job, mover.id);
      assert.ok(block.current_serial > block.plan_serial);
      return true;
    });
    const late = await planOf(fixture, 'two');
    const { cordon, uncordon } = { cordon: 'maintenance.cordon', uncordon: 'maintenance.uncordon' };
    await fixture.call(cordon, {});
    const { job_id: id } = await fixture.call<{ job_id: string }>('workspace.apply', { name: 'two', plan: late });
    const { serial } = await fixture.call<{ serial: number }>('workspace.get', { name: 'two' });
    // With its tag, here and below: as the service writes it.
    await rewrite(fixture.store, 'workspaces', { serial: serial + 1, own_backend: null }, 'two');
    await fixture.call(uncordon, {});
    const job = await fixture.waitFor(id, ['failed']);
    assert.equal(job.leader_pid, null);
    // Somebody takes a state out of the database: the run does not go on from an older one, or from none.
    await rewrite(fixture.store, 'workspaces', { own_backend: 0 }, 'two');
    const without = await runToEnd(fixture, 'plan', 'two');
    assert.match((await linesOf(fixture, without.id)).join('\n'), /Integrity: the newest state of two.*is not there/);
    assert.match((await linesOf(fixture, id)).join('\n'), /stale/);
  });

  test('T21: other files than those that were planned are not applied', async () => {
    const dir = await addWorkspace(fixture, 'files', items(1));
    const plan = await planOf(fixture, 'files');
    // Asked for while nothing is claimed, so that the files change after the service has compared them.
    await fixture.call('maintenance.cordon', {});
    const { job_id: id } = (await fixture.call('workspace.apply', { name: 'files', plan })) as { job_id: string };
    writeFileSync(join(dir, 'script.sh'), 'echo something else\n');
    await fixture.call('maintenance.uncordon', {});
    const job = await fixture.waitFor(id, ['failed']);
    await assert.rejects(fixture.call('workspace.apply', { name: 'files', plan }), {
      code: 'conflict',
      message: /the files of the workspace have changed since it was made\. Plan again\./,
    });
    assert.match((await linesOf(fixture, job.id)).join('\n'), /not those that the plan was made from/);
    // It was not run: with its own files it still can be.
    rmSync(join(dir, 'script.sh'));
    assert.equal((await runToEnd(fixture, 'apply', 'files', { plan })).state, 'succeeded');
  });

  test('A broken root fails with the words of terraform, and an unknown one is 404', async () => {
    await addWorkspace(fixture, 'broken', 'resource "terraform_data" {\n');
    const job = await runToEnd(fixture, 'plan', 'broken');
    assert.equal(job.state, 'failed');
    assert.equal(job.exit_code, 1);
    assert.match((await linesOf(fixture, job.id)).join('\n'), /Error/);
    await assert.rejects(
      fixture.call('workspace.plan', { name: 'nowhere' }),
      (error) => error instanceof Failure && error.code === 'not_found',
    );
  });

  test('T20 T55: neither a secret of the run nor the plan is anywhere in the data directory', async () => {
    const text =
      'variable "word" {\n  sensitive = true\n}\n' +
      items(1, '"${nonsensitive(var.word)} planned-9b1c"') +
      'output "shown" {\n  value = nonsensitive(var.word)\n}\n';
    await addWorkspace(fixture, 'secret', text);
    await fixture.call('secret.set', { secret: 'demo/word', value: CANARY });
    const plan = await planOf(fixture, 'secret', { run_secrets: { word: 'demo/word' } });
    // Without naming the secret: the plan has its value in it.
    const job = await runToEnd(fixture, 'apply', 'secret', { plan });
    assert.equal(job.state, 'succeeded', (await linesOf(fixture, job.id)).join('\n'));
    assert.ok((await linesOf(fixture, job.id)).some((line) => line.includes('[redacted · secret]')));
    // The state has it too: a later run that is given something else shows what is there.
    await fixture.call('secret.set', { secret: 'demo/other', value: 'another-word-5f1e2d' });
    const later = await planOf(fixture, 'secret', { run_secrets: { word: 'demo/other' } });
    const shown = JSON.stringify(await planViewOf(fixture, later));
    assert.ok(shown.includes('[redacted · secret]') && !shown.includes(CANARY), shown);
    // A plan that was made with a value that is not kept any more could not hide it.
    await fixture.call('secret.set', { secret: 'demo/other', value: 'set-again-0b7c9a' });
    await refused(fixture, 'secret', later, /demo\/other was set again or removed/);
    const forms = [CANARY, Buffer.from(CANARY).toString('base64').slice(0, 24), Buffer.from(CANARY).toString('hex')];
    for (const file of filesBelow(join(fixture.dir, 'data'))) {
      const bytes = readFileSync(file);
      for (const form of forms) assert.ok(!bytes.includes(form), `${file} has ${form}`);
    }
    assert.deepEqual(fixture.leftRuns(), []);
  });
});

function filesBelow(dir: string): string[] {
  return readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .map((name) => join(dir, name))
    .filter((path) => statSync(path).isFile());
}
