/** A root that was applied before it came to the service brings its state: what is read of it is stored first. */
import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { addWorkspace, items, linesOf, type RunVerb, runToEnd, writeRoot } from '../../support/infrastructure.ts';
import { openFixture, type Fixture } from '../../support/fixtures/installation.ts';
import { rewrite } from '../../support/store/rewrite.ts';
import { needs } from '../../support/tools.ts';
import type { WorkspaceRow } from '../../../src/store/schema/schema.ts';

const LINEAGE = '5f0e6ad2-0000-4000-8000-000000000001';

/** As `terraform apply` leaves it, with the one resource of `items(1)`. */
function stateFile(serial = 1, lineage = LINEAGE, input = 'before'): string {
  const value = { value: input, type: 'string' };
  return JSON.stringify({
    version: 4,
    terraform_version: '1.6.0',
    serial,
    lineage,
    outputs: {},
    resources: [
      {
        mode: 'managed',
        type: 'terraform_data',
        name: 'item',
        provider: 'provider["terraform.io/builtin/terraform"]',
        instances: [{ index_key: 0, schema_version: 0, attributes: { id: 'x', input: value, output: value } }],
      },
    ],
    check_results: null,
  });
}

type Version = readonly [version: number, serial: number, jobId: string | null];

async function versionsOf(fixture: Fixture, name: string): Promise<Version[]> {
  const rows = await fixture.call<{ version: number; serial: number; job_id: string | null }[]>('workspace.state', {
    name,
  });
  return rows.map(({ version, serial, job_id: jobId }) => [version, serial, jobId]);
}

async function ended(fixture: Fixture, verb: RunVerb, name: string, raw: object = {}) {
  const job = await runToEnd(fixture, verb, name, raw);
  const log = (await linesOf(fixture, job.id)).join('\n');
  assert.equal(job.state, 'succeeded', log);
  return { ...job, log };
}

/** Its run fails before a program is started. */
async function refused(fixture: Fixture, verb: RunVerb, name: string, why: RegExp): Promise<void> {
  const job = await runToEnd(fixture, verb, name);
  const log = (await linesOf(fixture, job.id)).join('\n');
  assert.deepEqual([job.state, job.leader_pid], ['failed', null], log);
  assert.match(log, why);
}

const SKIP = { skip: needs('terraform or tofu', 'Landlock ABI 4') };

const VARIANTS = [
  { by: 'dir', postgres: false, firsts: ['plan', 'drift', 'apply', 'destroy'] },
  { by: 'source', postgres: true, firsts: ['drift', 'apply'] },
] as const;

for (const { by, postgres, firsts } of VARIANTS)
  describe(`A root with a state, by a ${by}, on ${postgres ? 'PostgreSQL' : 'SQLite'}`, SKIP, () => {
    const endings: (() => Promise<void>)[] = [];
    let fixture: Fixture;
    before(async () => {
      fixture = await openFixture({ after: (step) => void endings.push(step) }, { postgres });
      await fixture.serve();
    });
    test.after(async () => {
      for (const step of endings.toReversed()) await step();
    });

    /** A root of one resource beside its state; answers its directory. */
    async function bring(name: string, state: string | null = stateFile()): Promise<string> {
      const dir = writeRoot(fixture, name, items(1));
      if (state !== null) writeFileSync(join(dir, 'terraform.tfstate'), state);
      if (by === 'source') await fixture.call('source.add', { name, dir });
      await fixture.call('workspace.add', { name, ...(by === 'source' ? { source: name } : { dir }) });
      return dir;
    }

    /** As an earlier build left it after a run that changed nothing: a position without a version. */
    function note(name: string, position: Partial<WorkspaceRow> = {}): Promise<void> {
      return rewrite(
        fixture.store,
        'workspaces',
        { serial: 1, lineage: LINEAGE, own_backend: 0, moved_at: 1, ...position },
        name,
      );
    }

    for (const first of firsts)
      test(`What the first run reads is version 1, and each run continues from it: ${first} first`, async () => {
        const name = `first-${first}`;
        await bring(name);
        const job = await ended(fixture, first, name);
        assert.match(job.log, /The state in terraform\.tfstate of these files, serial 1 with 1 resource, is stored/);
        const versions = await versionsOf(fixture, name);
        assert.deepEqual(versions.at(-1), [1, 1, null], 'no job of the service has made it');
        const isChange = first === 'apply' || first === 'destroy';
        assert.deepEqual(
          versions.slice(0, -1).map(([version, , by]) => [version, by]),
          isChange ? [[2, job.id]] : [],
        );
        const { plan_artifact_id: plan, log } = await ended(fixture, 'plan', name);
        assert.match(
          log,
          { plan: /1 to change, 0 to create/, drift: /1 to change/, apply: /no changes/, destroy: /1 to create/ }[
            first
          ],
        );
        await ended(fixture, 'apply', name, { plan });
      });

    test('A position without a version, as earlier builds left it, heals with the state of the files', async () => {
      await bring('same');
      const { plan_artifact_id: plan } = await ended(fixture, 'plan', 'same');
      // The plan that was made, and approved, before is applied.
      await fixture.store.write((tx) => tx.db.deleteFrom('states').where('workspace', '=', 'same').execute());
      await ended(fixture, 'apply', 'same', { plan });
      assert.deepEqual(
        (await versionsOf(fixture, 'same')).map(([version]) => version),
        [2, 1],
      );

      // Somebody went on with terraform itself, because the service did not.
      await bring('jumped', stateFile(7));
      await note('jumped');
      await ended(fixture, 'drift', 'jumped');
      assert.deepEqual(await versionsOf(fixture, 'jumped'), [[1, 7, null]]);
      await ended(fixture, 'apply', 'jumped');
    });

    test('Files that do not continue the noted state are not read in, and the message names the way out', async () => {
      const dir = await bring('lost', null);
      await note('lost');
      const why =
        /Integrity: the newest state of lost, serial 1, is not there.*svc workspace restore lost --file PATH/s;
      for (const verb of ['plan', 'drift', 'apply', 'destroy'] as const) await refused(fixture, verb, 'lost', why);
      const path = join(dir, 'terraform.tfstate');
      // Another state, an earlier one, and one that was made beside the runs of the service.
      for (const [serial, lineage, byJob] of [
        [1, 'another', null],
        [0, LINEAGE, null],
        [2, LINEAGE, 'job_x'],
      ] as const) {
        writeFileSync(path, stateFile(serial, lineage));
        await fixture.store.write((tx) =>
          tx.db.updateTable('workspaces').set({ moved_by_job: byJob }).where('name', '=', 'lost').execute(),
        );
        await refused(fixture, 'plan', 'lost', why);
      }
      assert.deepEqual(await versionsOf(fixture, 'lost'), []);
      await fixture.call('workspace.restore', { name: 'lost', file: path });
      rmSync(path);
      assert.match((await ended(fixture, 'plan', 'lost')).log, /1 to change, 0 to create/);
    });
  });

describe('The terraform.tfstate of a root', SKIP, () => {
  test('is not read where the service stores a state, and the log says so where it is not behind', async (t) => {
    const fixture = await openFixture(t);
    await fixture.serve();
    const dir = await addWorkspace(fixture, 'net', items(1));
    const path = join(dir, 'terraform.tfstate');
    writeFileSync(path, stateFile());
    await ended(fixture, 'apply', 'net');
    const said = async (state: string) => {
      writeFileSync(path, state);
      const { log } = await ended(fixture, 'plan', 'net');
      assert.match(log, /no changes/);
      return /terraform\.tfstate of these files is not used: .*/.exec(log)?.[0];
    };
    assert.equal(await said(stateFile()), undefined, 'what was read in stays where it is');
    const [[, serial] = []] = await versionsOf(fixture, 'net');
    const end =
      `the service continues from its stored state, serial ${serial}. To continue from the file: ` +
      'svc workspace restore net --file PATH';
    const begin = 'terraform.tfstate of these files is not used: it has';
    assert.equal(await said(stateFile(9)), `${begin} serial 9, and ${end}`);
    assert.equal(await said(stateFile(1, 'other')), `${begin} another lineage, and ${end} --force`);
  });

  test('that is empty is no state, and one that cannot be read ends the run', async (t) => {
    const fixture = await openFixture(t);
    await fixture.serve();
    // Terraform itself takes a state without a lineage.
    const bad = await addWorkspace(fixture, 'bad', items(1));
    writeFileSync(join(bad, 'terraform.tfstate'), '{"version":4,"serial":1}');
    const job = await runToEnd(fixture, 'apply', 'bad');
    assert.equal(job.state, 'failed');
    const log = (await linesOf(fixture, job.id)).join('\n');
    assert.match(log, /terraform\.tfstate of these files cannot be read as a state: .* Nothing was run/);
    assert.deepEqual(await versionsOf(fixture, 'bad'), []);
    const dir = await addWorkspace(fixture, 'empty', items(1));
    writeFileSync(join(dir, 'terraform.tfstate'), '');
    await ended(fixture, 'plan', 'empty');
    assert.deepEqual(await versionsOf(fixture, 'empty'), []);
    const { id } = await ended(fixture, 'apply', 'empty');
    assert.deepEqual(
      (await versionsOf(fixture, 'empty')).map(([version, , by]) => [version, by]),
      [[1, id]],
    );
    // A state without resources is one: its serial is continued.
    const gone = await addWorkspace(fixture, 'gone', items(1));
    writeFileSync(join(gone, 'terraform.tfstate'), JSON.stringify({ ...JSON.parse(stateFile(4)), resources: [] }));
    await ended(fixture, 'apply', 'gone');
    assert.deepEqual((await versionsOf(fixture, 'gone')).at(-1), [1, 4, null]);
  });

  test('of a local backend is read in once the block is removed, or restored from its path', async (t) => {
    const fixture = await openFixture(t);
    await fixture.serve();
    const block = 'terraform {\n  backend "local" {\n    path = "here.tfstate"\n  }\n}\n';
    const dir = await addWorkspace(fixture, 'local', block + items(1));
    writeFileSync(join(dir, 'here.tfstate'), stateFile());
    const job = await runToEnd(fixture, 'plan', 'local');
    assert.equal(job.state, 'failed');
    const log = (await linesOf(fixture, job.id)).join('\n');
    assert.match(log, /Remove the backend block.*svc workspace restore local --file PATH/);
    writeFileSync(join(dir, 'main.tf'), items(1));
    await fixture.call('workspace.restore', { name: 'local', file: join(dir, 'here.tfstate') });
    assert.match((await ended(fixture, 'plan', 'local')).log, /1 to change, 0 to create/);
  });
});
