/** A person who can write the database but has no key makes no daemon run, read or write anything. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { JOB_KINDS } from '../../../src/domain/jobs/job.ts';
import { newId } from '../../../src/lib/id.ts';
import { toJson } from '../../../src/lib/json.ts';
import { isTagged } from '../../../src/store/engine/tags/tags.ts';
import { listOrphans } from '../../../src/store/maintenance/daemons.ts';
import type { Db, JobRow } from '../../../src/store/schema/schema.ts';
import { addDaemon } from '../../store/engine-fixture.ts';
import { until } from '../../support/api-client.ts';
import { type Fixture, openFixture } from '../../support/fixtures/installation.ts';
import { add, approvalOf, decide, jobOf, start, step } from '../../support/workflows/fixture.ts';
import { needs } from '../../support/tools.ts';

const ENDED = ['succeeded', 'failed', 'cancelled', 'interrupted'];

async function write(fixture: Fixture, change: (db: Db) => Promise<unknown>): Promise<void> {
  await fixture.store.write(async (tx) => {
    await change(tx.db);
    // Tells the daemons on a shared database.
    tx.afterCommit(() => undefined);
  });
}

/** Of its output, with the state before it. */
async function endOf(fixture: Fixture, id: string): Promise<string> {
  const { state } = await fixture.waitFor(id, ENDED);
  const lines = (await fixture.events(id)).flatMap((event) => (event.type === 'log' ? [event.text] : []));
  return [state, ...lines].join('\n');
}

/** Copies the row of a job, as somebody does who can write the database alone; answers the id of the copy. */
async function forge(fixture: Fixture, row: JobRow, columns: Partial<JobRow>): Promise<string> {
  const id = newId('job', Date.now());
  const copy = { ...row, id, state: 'queued' as const, blocked: 0 as const, lease_generation: 0, ...columns };
  await write(fixture, (db) => db.insertInto('jobs').values(copy).execute());
  return id;
}

for (const postgres of [false, true]) {
  describe(`T80: rows that somebody wrote, on ${postgres ? 'PostgreSQL' : 'SQLite'}`, () => {
    test(
      'T80: a job of any kind that was made or changed in the database runs nothing',
      { skip: needs('Landlock ABI 4') },
      async (t) => {
        const fixture = await openFixture(t, { postgres });
        const secret = join(fixture.dir, 'closed');
        mkdirSync(secret, { mode: 0o700 });
        writeFileSync(join(secret, 'site.yml'), '- hosts: all\n');
        const honest = await fixture.queue({ command: ['/bin/echo', 'honest'], privileged: false });
        const row = await fixture.row(honest);
        const playbook = { playbook: 'site.yml', source: null, dir: secret, inventory: 'localhost', limit: null };
        const untagged = { order_tag: null, order_key_id: null };
        const forged = await Promise.all([
          forge(fixture, row, {}),
          forge(fixture, row, untagged),
          forge(fixture, row, { ...untagged, kind: 'playbook', spec: JSON.stringify(playbook) }),
          ...JOB_KINDS.map((kind) => forge(fixture, row, { ...untagged, kind })),
          forge(fixture, row, { owners: toJson(['eve']) }),
          forge(fixture, row, { node: 'other', timeout_ms: 1 }),
        ]);
        await write(fixture, (db) => db.updateTable('jobs').set({ node: null }).where('node', '=', 'other').execute());
        await fixture.serve();
        assert.match(await endOf(fixture, honest), /^succeeded\nhonest/);
        for (const id of forged)
          assert.match(
            await endOf(fixture, id),
            /^failed\nIntegrity: job job_\w+ (?:has no tag|was changed).*Nothing was run\.$/,
          );
      },
    );

    test(
      'T80: a yes that was written into the database releases nothing, and a forged request gets none',
      { skip: needs('Landlock ABI 4') },
      async (t) => {
        const fixture = await openFixture(t, { postgres });
        await add(fixture, 'w', [step('ask', 'echo released', '    approval: required\n')]);
        const asked = async (): Promise<{ job: string; approval: string }> => {
          const job = jobOf(await start(fixture, 'w'), 'ask');
          return { job, approval: (await approvalOf(fixture, job)).id };
        };
        const [honest, decided, changed] = [await asked(), await asked(), await asked()];
        const yes = { state: 'approved', decided_at: Date.now(), decided_by: 'ben', decided_via: 'cli' } as const;
        await write(fixture, async (db) => {
          await db.updateTable('approvals').set(yes).where('id', '=', decided.approval).execute();
          await db.updateTable('jobs').set({ state: 'queued' }).where('id', '=', decided.job).execute();
          await db
            .updateTable('approvals')
            .set({ owners: toJson([]) })
            .where('id', '=', changed.approval)
            .execute();
        });
        await assert.rejects(decide(fixture, changed.approval, 'approve'), /Integrity: approval apr_\w+ was changed/);
        await decide(fixture, changed.approval, 'reject');
        await decide(fixture, honest.approval, 'approve');
        await fixture.serve();
        assert.match(await endOf(fixture, honest.job), /^succeeded\nreleased/);
        assert.match(await endOf(fixture, decided.job), /^failed\nIntegrity: approval apr_\w+ was changed/);
      },
    );

    test('T80: a schedule, workflow, inventory, workspace or source that was changed is not used', async (t) => {
      const fixture = await openFixture(t, { postgres });
      const dir = join(fixture.dir, 'ops');
      mkdirSync(dir);
      writeFileSync(join(dir, 'site.yml'), '- hosts: all\n');
      writeFileSync(join(dir, 'main.tf'), '');
      await add(fixture, 'w', [step('a', 'true')]);
      const text = 'all:\n  hosts:\n    web1: { ansible_connection: local }\n';
      await fixture.call('inventory.add', { name: 'fleet', text });
      await fixture.call('workspace.add', { name: 'net', dir });
      await fixture.call('source.add', { name: 'ops', dir });
      const nightly = { name: 'nightly', cron: '* * * * *', inventory: 'fleet', command: ['/bin/true'] };
      await fixture.call('schedule.add', nightly);
      const run = { inventory: 'fleet', command: ['/bin/true'] };
      const { job_id: command } = await fixture.call<{ job_id: string }>('command.run', run);
      await write(fixture, async (db) => {
        const [{ definition }] = [await db.selectFrom('workflows').select('definition').executeTakeFirstOrThrow()];
        await db
          .updateTable('workflows')
          .set({ definition: definition.replace('true', 'false') as typeof definition })
          .execute();
        await db.updateTable('inventories').set({ ssh_key: 'agent' }).execute();
        await db.updateTable('workspaces').set({ path: '/root' }).execute();
        await db.updateTable('sources').set({ location: '/root' }).execute();
        await db
          .updateTable('schedules')
          .set({ owners: toJson([]), next_at: 1 })
          .execute();
      });
      await assert.rejects(start(fixture, 'w'), /Integrity: workflow w was changed/);
      const site = { playbook: 'site.yml', source: 'ops', inventory: 'localhost' };
      await assert.rejects(fixture.call('playbook.run', site), /Integrity: source ops was changed/);
      await assert.rejects(fixture.call('source.sync', { name: 'ops' }), /Integrity: source ops was changed/);
      // One that is asked for now waits for another person, whatever the row says.
      const later = await fixture.call<{ state: string }>('command.run', run);
      assert.equal(later.state, 'awaiting_approval');
      const { job_id: plan } = await fixture.call<{ job_id: string }>('workspace.plan', { name: 'net' });
      await fixture.serve();
      assert.match(await endOf(fixture, command), /^failed\nIntegrity: inventory fleet was changed/);
      assert.match(await endOf(fixture, plan), /^failed\nIntegrity: workspace net was changed/);
      const schedules = fixture.store.db.selectFrom('schedules').select(['last_refusal', 'last_job_id']);
      const refused = await until('the slot was refused', async () => {
        const row = await schedules.executeTakeFirstOrThrow();
        return row.last_refusal === null ? undefined : row;
      });
      assert.match(refused.last_refusal ?? '', /Integrity: schedule nightly was changed/);
      assert.equal(refused.last_job_id, null);
    });

    test('T80: what a job of another left behind is not taken from a row that was made in the database', async (t) => {
      const fixture = await openFixture(t, { postgres });
      const row = await fixture.row(await fixture.queue({ command: ['/bin/true'], privileged: false }));
      const gone = await addDaemon(fixture.store, newId('dmn', Date.now()), postgres ? 1 : null);
      await write(fixture, (db) =>
        db.updateTable('daemons').set({ stopped_at: 1 }).where('id', '=', gone.id).execute(),
      );
      const orphan = { state: 'running', daemon_id: gone.id, started_at: 1, kind: 'plan', workspace: 'net' } as const;
      const id = await forge(fixture, row, { ...orphan, concurrency_key: 'workspace:net' });
      const honest = { state: 'running', daemon_id: gone.id, started_at: 1 } as const;
      await write(fixture, (db) => db.updateTable('jobs').set(honest).where('id', '=', row.id).execute());
      const keys = await fixture.services.keyring();
      const orphans = await listOrphans(fixture.store.db);
      const ours = orphans.filter((each) => isTagged(keys, 'jobs', each)).map((each) => each.id);
      assert.deepEqual([orphans.length, ...ours], [2, row.id]);
      await fixture.serve();
      assert.equal((await fixture.waitFor(id, ENDED)).state, 'interrupted');
    });
  });
}
