/** A saved plan runs once, as it was made, from the state that it was made for, or not at all. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { Failure } from '../../../src/domain/failure.ts';
import type { ArtifactRow, JobRow } from '../../../src/store/schema/schema.ts';
import { addWorkspace, items, linesOf, planViewOf, runToEnd } from '../../support/infrastructure.ts';
import { openSite, type Site } from '../../support/fixtures/installation.ts';
import { needs } from '../../support/tools.ts';

const CANARY = 'canary-7f3a9c51e2d84b06';

async function planOf(site: Site, name: string, raw: object = {}): Promise<string> {
  const job = await runToEnd(site, 'plan', name, raw);
  assert.equal(job.state, 'succeeded', (await linesOf(site, job.id)).join('\n'));
  return job.plan_artifact_id ?? assert.fail('the plan run has named no plan');
}

function alter(site: Site, id: string, change: Partial<ArtifactRow>): Promise<unknown> {
  return site.store.write((tx) => tx.db.updateTable('artifacts').set(change).where('id', '=', id).execute());
}

async function sealedOf(site: Site, id: string): Promise<Buffer> {
  const row = await site.store.db
    .selectFrom('artifacts')
    .select('sealed')
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  return Buffer.from(row.sealed);
}

/** Applies it; the run is to fail before the tool starts. */
async function refused(site: Site, name: string, plan: string, why: RegExp): Promise<JobRow> {
  const job = await runToEnd(site, 'apply', name, { plan });
  const lines = await linesOf(site, job.id);
  assert.equal(job.state, 'failed', lines.join('\n'));
  assert.equal(job.exit_code, null, 'a tool was started');
  assert.equal(job.leader_pid, null, 'a process was started');
  assert.match(lines.join('\n'), why);
  return job;
}

describe('A saved plan', { skip: needs('terraform or tofu') }, () => {
  let site: Site;
  const dirs: Record<string, string> = {};
  before(async () => {
    site = await openSite({ after: (step) => void endings.push(step) });
    await site.start();
    for (const name of ['one', 'two']) dirs[name] = await addWorkspace(site, name, items(2));
  });
  const endings: (() => Promise<void>)[] = [];
  // The site outlives the single tests.
  test.after(async () => {
    for (const step of endings.toReversed()) await step();
  });

  test(
    'T19: flipped, cut, exchanged and replayed plans fail before terraform starts, and the ledger says so',
    { timeout: 120_000 },
    async () => {
      const [first, second] = [await planOf(site, 'one'), await planOf(site, 'two')];
      const sealed = await sealedOf(site, first);
      const flipped = Buffer.from(sealed);
      flipped[sealed.length >> 1]! ^= 1;
      await alter(site, first, { sealed: flipped });
      const job = await refused(site, 'one', first, /Integrity: plan .* altered\. Nothing was run/);
      const { rows } = {
        rows: await site.store.db.selectFrom('ledger').selectAll().where('target', '=', job.id).execute(),
      };
      assert.ok(rows.some((row) => row.operation === 'job.refuse'));
      const { hash } = await import('node:crypto');
      // Also by somebody who writes the digest anew: the seal itself does not open.
      const cut = sealed.subarray(0, -1);
      const other = await planOf(site, 'one');
      await alter(site, other, { sealed: cut, digest: hash('sha256', cut) });
      await refused(site, 'one', other, /Integrity/);
      // The plan of another workspace, and an older plan of this one, under the new name.
      const third = await planOf(site, 'one');
      const foreign = await sealedOf(site, second);
      await alter(site, third, { sealed: foreign, digest: hash('sha256', foreign) });
      await refused(site, 'one', third, /Integrity/);
      const fourth = await planOf(site, 'one');
      await alter(site, fourth, { sealed, digest: hash('sha256', sealed) });
      await refused(site, 'one', fourth, /Integrity/);
      // Nor does one whose verdict somebody made milder.
      await site.call('workspace.update', { name: 'one', deny_when: 'true' });
      const denied = await planOf(site, 'one');
      await assert.rejects(
        site.call('workspace.apply', { name: 'one', plan: denied }),
        (error) => error instanceof Failure && error.code === 'conflict',
      );
      await alter(site, denied, { verdict: 'clean' });
      await refused(site, 'one', denied, /Integrity/);
      await assert.rejects(
        site.call('workspace.apply', { name: 'one', plan: fourth }),
        (error) => error instanceof Failure && error.code === 'conflict' && /once/.test(error.message),
      );
    },
  );

  test('A clean plan applies straight through, once, and the serial moves', { timeout: 60_000 }, async () => {
    const plan = await planOf(site, 'two');
    const job = await runToEnd(site, 'apply', 'two', { plan });
    assert.equal(job.state, 'succeeded', (await linesOf(site, job.id)).join('\n'));
    assert.equal(job.exit_code, 0);
    assert.equal(job.plan_artifact_id, plan);
    const seen = await site.call<{ serial: number; last_apply_job_id: string }>('workspace.get', { name: 'two' });
    assert.ok(seen.serial > 0);
    assert.equal(seen.last_apply_job_id, job.id);
    const to = join(site.dir, 'two.tfstate');
    await site.call('workspace.export', { name: 'two', to });
    assert.equal(statSync(to).mode & 0o777, 0o600);
    assert.equal((JSON.parse(readFileSync(to, 'utf8')) as { serial: number }).serial, seen.serial);
    await assert.rejects(
      site.call('workspace.export', { name: 'two', to }),
      (error) => error instanceof Failure && error.code === 'duplicate',
    );
    await assert.rejects(
      site.call('workspace.export', { name: 'two', version: 9, to: `${to}.9` }),
      (error) => error instanceof Failure && error.code === 'not_found',
    );
    await assert.rejects(
      site.call('workspace.apply', { name: 'two', plan }),
      (error) => error instanceof Failure && error.code === 'conflict',
    );
  });

  test(
    'T21: a plan that the state has moved past is refused when asked for, with who moved it, and when claimed',
    { timeout: 60_000 },
    async () => {
      const stale = await planOf(site, 'two');
      writeFileSync(join(dirs['two']!, 'main.tf'), items(3));
      const mover = await runToEnd(site, 'apply', 'two');
      assert.equal(mover.state, 'succeeded');
      await assert.rejects(site.call('workspace.apply', { name: 'two', plan: stale }), (error) => {
        assert.ok(error instanceof Failure);
        assert.equal(error.code, 'stale_plan');
        const block = error.extra['stale'] as { moved_by_job: string; plan_serial: number; current_serial: number };
        assert.equal(block.moved_by_job, mover.id);
        assert.ok(block.current_serial > block.plan_serial);
        return true;
      });
      const late = await planOf(site, 'two');
      const { cordon, uncordon } = { cordon: 'maintenance.cordon', uncordon: 'maintenance.uncordon' };
      await site.call(cordon, {});
      const { job_id: id } = await site.call<{ job_id: string }>('workspace.apply', { name: 'two', plan: late });
      await site.store.write((tx) =>
        tx.db
          .updateTable('workspaces')
          .set((eb) => ({ serial: eb('serial', '+', 1), own_backend: null }))
          .where('name', '=', 'two')
          .execute(),
      );
      await site.call(uncordon, {});
      const job = await site.waitFor(id, ['failed']);
      assert.equal(job.leader_pid, null);
      // Somebody takes a state out of the database: the run does not go on from an older one, or from none.
      await site.store.write((tx) =>
        tx.db.updateTable('workspaces').set({ own_backend: 0 }).where('name', '=', 'two').execute(),
      );
      const without = await runToEnd(site, 'plan', 'two');
      assert.match((await linesOf(site, without.id)).join('\n'), /Integrity: the newest state of two.*is not there/);
      assert.match((await linesOf(site, id)).join('\n'), /stale/);
    },
  );

  test('T21: other files than those that were planned are not applied', { timeout: 60_000 }, async () => {
    const dir = await addWorkspace(site, 'files', items(1));
    const plan = await planOf(site, 'files');
    writeFileSync(join(dir, 'script.sh'), 'echo something else\n');
    const job = await runToEnd(site, 'apply', 'files', { plan });
    assert.equal(job.state, 'failed');
    assert.match((await linesOf(site, job.id)).join('\n'), /not those that the plan was made from/);
    // It was not run: with its own files it still can be.
    rmSync(join(dir, 'script.sh'));
    assert.equal((await runToEnd(site, 'apply', 'files', { plan })).state, 'succeeded');
  });

  test('A broken root fails with the words of terraform, and an unknown one is 404', { timeout: 60_000 }, async () => {
    await addWorkspace(site, 'broken', 'resource "terraform_data" {\n');
    const job = await runToEnd(site, 'plan', 'broken');
    assert.equal(job.state, 'failed');
    assert.equal(job.exit_code, 1);
    assert.match((await linesOf(site, job.id)).join('\n'), /Error/);
    await assert.rejects(
      site.call('workspace.plan', { name: 'nowhere' }),
      (error) => error instanceof Failure && error.code === 'not_found',
    );
  });

  test(
    'T20 T55: a secret of the run, a value of the plan and the plan itself are nowhere in the data directory',
    { timeout: 120_000 },
    async () => {
      const text =
        'variable "word" {\n  sensitive = true\n}\n' +
        items(1, '"${nonsensitive(var.word)} planned-9b1c"') +
        'output "shown" {\n  value = nonsensitive(var.word)\n}\n';
      await addWorkspace(site, 'secret', text);
      await site.call('secret.set', { secret: 'demo/word', value: CANARY });
      const plan = await planOf(site, 'secret', { run_secrets: { word: 'demo/word' } });
      // Without naming the secret: the plan has its value in it.
      const job = await runToEnd(site, 'apply', 'secret', { plan });
      assert.equal(job.state, 'succeeded', (await linesOf(site, job.id)).join('\n'));
      assert.ok((await linesOf(site, job.id)).some((line) => line.includes('[redacted · secret]')));
      // The state has it too: a later run that is given something else shows what is there.
      await site.call('secret.set', { secret: 'demo/other', value: 'another-word-5f1e2d' });
      const later = await planOf(site, 'secret', { run_secrets: { word: 'demo/other' } });
      const shown = JSON.stringify(await planViewOf(site, later));
      assert.ok(shown.includes('[redacted · secret]') && !shown.includes(CANARY), shown);
      // A plan that was made with a value that is not kept any more could not hide it.
      await site.call('secret.set', { secret: 'demo/other', value: 'set-again-0b7c9a' });
      await refused(site, 'secret', later, /demo\/other was set again or removed/);
      const forms = [CANARY, Buffer.from(CANARY).toString('base64').slice(0, 24), Buffer.from(CANARY).toString('hex')];
      for (const file of filesBelow(join(site.dir, 'data'))) {
        const bytes = readFileSync(file);
        for (const form of forms) assert.ok(!bytes.includes(form), `${file} has ${form}`);
      }
      assert.deepEqual(site.leftRuns(), []);
    },
  );
});

function filesBelow(dir: string): string[] {
  return readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .map((name) => join(dir, name))
    .filter((path) => statSync(path).isFile());
}
