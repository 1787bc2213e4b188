/** What was approved is what runs: files of directories that change between request, yes and run. */
import assert from 'node:assert/strict';
import { readPinned } from '../../../src/domain/approvals/pinned.ts';
import { keepPinned } from '../../../src/store/jobs/pinned-files.ts';
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { JobTrigger } from '../../../src/domain/jobs/job.ts';
import { queuePlaybook } from '../../../src/jobs/playbooks/queue.ts';
import type { Projected } from '../../../src/views/views.ts';
import { until } from '../../support/api-client.ts';
import { type Fixture, openFixture } from '../../support/fixtures/installation.ts';
import { addWorkspace, items, linesOf, writeRoot } from '../../support/infrastructure.ts';
import { type Asked, askForRun, decideAs, readFiles } from '../../support/sources/pinned.ts';
import { tamper } from '../../support/store/rewrite.ts';
import { needs } from '../../support/tools.ts';
import { approvalOf } from '../../support/workflows/fixture.ts';

const ENDED = ['succeeded', 'failed', 'cancelled', 'interrupted'];
const CHANGED = /The files of \w+(?: \w+)? are not as they were when this job was asked for\. Nothing was/;
const PLAY = '- hosts: localhost\n  gather_facts: false\n  tasks:\n    - ansible.builtin.debug: { msg: MSG }\n';

async function changedOf(fixture: Fixture, { approval: id }: Asked): Promise<string | undefined> {
  return (await fixture.call<Projected<'approval.get'>>('approval.get', { id })).changed;
}

async function refusedRun(fixture: Fixture, { job }: Asked): Promise<void> {
  const row = await fixture.waitFor(job, ENDED);
  const text = (await linesOf(fixture, job)).join('\n');
  assert.deepEqual([row.state, row.exit_code], ['failed', null], text);
  assert.match(text, CHANGED);
}

/** A workspace with its own directory, and one with that of a source. */
async function scene(fixture: Fixture): Promise<Readonly<Record<'own' | 'shared', string>>> {
  const own = await addWorkspace(fixture, 'own', items(1));
  const shared = writeRoot(fixture, 'shared', items(1));
  await fixture.call('source.add', { name: 'ops', dir: shared });
  await fixture.call('workspace.add', { name: 'shared', source: 'ops' });
  return { own, shared };
}

/** The pending request of a job that a rule or a schedule has made, once its files are read. */
function waiting(fixture: Fixture, trigger: JobTrigger): Promise<Asked> {
  return until(`a job of a ${trigger} waits`, async () => {
    const jobs = fixture.store.db.selectFrom('jobs').selectAll().where('trigger', '=', trigger);
    const row = await jobs.where('state', '=', 'awaiting_approval').executeTakeFirst();
    if (row === undefined || row.pinned?.includes('"unread"') === true) return undefined;
    return { job: row.id, approval: (await approvalOf(fixture, row.id)).id };
  });
}

async function askForPlaybook(fixture: Fixture, from: { source: string | null; dir: string | null }): Promise<Asked> {
  const what = { playbook: 'site.yml', inventory: 'localhost', limit: null, tags: [], skipTags: [], extraVars: {} };
  const how = { check: false, diff: false, tolerateUnreachable: false, egressPorts: [] };
  const spec = { ...what, ...how, runSecrets: {}, vaultProject: null, ...from };
  const asker = { trigger: 'schedule', requestedBy: 'ana', owners: ['ana'] } as const;
  const gate = { origin: 'schedule', ttlMs: 600_000 } as const;
  const order = { spec, parallel: true, privileged: false, timeoutMs: 60_000 };
  const deps = { wake: () => undefined, approvalTtlMs: 600_000 };
  const { jobId } = await fixture.store.write((tx) => queuePlaybook({ tx, deps, asker, gate }, order));
  await readFiles(fixture);
  return { job: jobId, approval: (await approvalOf(fixture, jobId)).id };
}

/** Each writes a change of the files in a directory. */
const CHANGES: readonly ((dir: string) => void)[] = [
  (dir) => writeFileSync(join(dir, 'main.tf'), items(2)),
  (dir) => chmodSync(join(dir, 'main.tf'), 0o755),
  (dir) => writeFileSync(join(dir, 'terraform.tfstate'), '{}'),
  (dir) => symlinkSync('main.tf', join(dir, 'other.tf')),
];

for (const postgres of [false, true]) {
  describe(`T90: the files that were approved, on ${postgres ? 'PostgreSQL' : 'SQLite'}`, () => {
    for (const name of ['own', 'shared'] as const) {
      test(`T90: files that changed before the yes are refused, and can be rejected: ${name}`, async (t) => {
        const fixture = await openFixture(t, { postgres });
        const dir = (await scene(fixture))[name];
        for (const change of CHANGES) {
          const asked = await askForRun(fixture, 'destroy', name);
          assert.equal(await changedOf(fixture, asked), undefined);
          change(dir);
          const called = name === 'own' ? 'workspace own' : 'source ops';
          await assert.rejects(decideAs(fixture, asked, 'approve'), {
            code: 'conflict',
            message: new RegExp(`^The files of ${called} are not as they were .* Nothing was decided\\. It can be rej`),
          });
          await decideAs(fixture, asked, 'reject');
          assert.equal((await fixture.row(asked.job)).state, 'cancelled');
        }
      });

      test(
        `T90: files that changed after the yes fail the run, and others run: ${name}`,
        { skip: needs('terraform or tofu', 'Landlock ABI 4') },
        async (t) => {
          const fixture = await openFixture(t, { postgres });
          const dir = (await scene(fixture))[name];
          const asked = await askForRun(fixture, 'apply', name);
          await decideAs(fixture, asked, 'approve');
          writeFileSync(join(dir, 'main.tf'), items(2));
          await fixture.serve();
          await refusedRun(fixture, asked);
          const again = await askForRun(fixture, 'apply', name);
          await decideAs(fixture, again, 'approve');
          const { state } = await fixture.waitFor(again.job, ENDED);
          assert.equal(state, 'succeeded', (await linesOf(fixture, again.job)).join('\n'));
        },
      );
    }

    test(
      'T90: a playbook of a directory runs with the files that were approved, or not at all',
      { skip: needs('ansible-playbook', 'Landlock ABI 4') },
      async (t) => {
        const fixture = await openFixture(t, { postgres });
        const dir = join(fixture.dir, 'plays');
        mkdirSync(join(dir, 'filter_plugins'), { recursive: true });
        const write = (message: string): void => writeFileSync(join(dir, 'site.yml'), PLAY.replace('MSG', message));
        write('first');
        await fixture.call('source.add', { name: 'ops', dir });
        const froms = [
          { source: 'ops', dir: null },
          { source: null, dir },
        ];
        const daemon = await fixture.serve();
        for (const from of froms) {
          const asked = await askForPlaybook(fixture, from);
          // What a run leaves out is not compared.
          writeFileSync(join(dir, 'filter_plugins', `${from.source ?? 'own'}.py`), '');
          await decideAs(fixture, asked, 'approve');
          const { state } = await fixture.waitFor(asked.job, ENDED);
          assert.equal(state, 'succeeded', (await linesOf(fixture, asked.job)).join('\n'));
        }
        await daemon.stop();
        const [first, second, third] = [
          await askForPlaybook(fixture, froms[0]!),
          await askForPlaybook(fixture, froms[1]!),
          await askForPlaybook(fixture, froms[1]!),
        ];
        await decideAs(fixture, first, 'approve');
        await decideAs(fixture, second, 'approve');
        write('second');
        await assert.rejects(decideAs(fixture, third, 'approve'), /The files of its directory are not as they were/);
        await fixture.serve();
        await refusedRun(fixture, first);
        await refusedRun(fixture, second);
      },
    );

    test(
      'T90: a daemon reads the files of what a rule and a schedule ask for',
      { skip: needs('terraform or tofu', 'Landlock ABI 4') },
      async (t) => {
        const fixture = await openFixture(t, { postgres });
        const { own, shared } = await scene(fixture);
        const { url } = await fixture.call<{ url: string }>('webhook.add', { name: 'in', source: 'generic' });
        const rule = 'when: event.source == "generic"\napproval: required\naction:\n  apply: own\n';
        await fixture.call('rule.add', { name: 'heal', text: rule });
        const slot = { cron: '* * * * *', approval: 'required', drift: 'shared' };
        await fixture.call('schedule.add', { name: 'look', ...slot });
        await fixture.store.write(({ db }) => db.updateTable('schedules').set({ next_at: 1 }).execute());
        const daemon = await fixture.serve();
        await fetch(new URL(new URL(url).pathname, daemon.ready.ingress_url), {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ name: 'Down', status: 'firing', labels: {} }),
        });
        const [ruled, scheduled] = [await waiting(fixture, 'rule'), await waiting(fixture, 'schedule')];
        writeFileSync(join(own, 'main.tf'), items(2));
        await assert.rejects(decideAs(fixture, ruled, 'approve'), /The files of workspace own are not as they were/);
        await decideAs(fixture, ruled, 'reject');
        writeFileSync(join(shared, 'main.tf'), items(2));
        await assert.rejects(decideAs(fixture, scheduled, 'approve'), /The files of source ops are not as they were/);
        writeFileSync(join(shared, 'main.tf'), items(1));
        await decideAs(fixture, scheduled, 'approve');
        const { state } = await fixture.waitFor(scheduled.job, ENDED);
        assert.equal(state, 'succeeded', (await linesOf(fixture, scheduled.job)).join('\n'));
      },
    );

    test('T90: there is no yes to files that were not read, or that cannot be read', async (t) => {
      const fixture = await openFixture(t, { postgres });
      fixture.store.adoption.end();
      const { own } = await scene(fixture);
      const asked = await askForRun(fixture, 'apply', 'own');
      const pinned = (await fixture.row(asked.job)).pinned ?? '';
      await tamper(fixture.store, 'jobs', asked.job, { pinned: pinned.replace(/"digest":"\w/, '"digest":"x') });
      await assert.rejects(decideAs(fixture, asked, 'approve'), /Integrity: job .* was changed after it was written/);

      const unread = await askForRun(fixture, 'apply', 'own', false);
      assert.match((await changedOf(fixture, unread)) ?? '', /have not been read yet\. .*: try again in a moment\.$/);
      // Where no daemon runs, an attempt to decide reads them. It was not made about these files yet.
      await assert.rejects(decideAs(fixture, unread, 'approve'), /were read only now: look at them, then decide\. No/);
      assert.equal(await changedOf(fixture, unread), undefined);
      await decideAs(fixture, unread, 'approve');
      assert.deepEqual(await fixture.store.db.selectFrom('unread_files').selectAll().execute(), []);

      // What cannot be read for a moment is read again by the next attempt, and the one after that is about it.
      const moment = await askForRun(fixture, 'apply', 'own', false);
      const row = await fixture.row(moment.job);
      const files = { is: 'unreadable', why: 'The files of workspace own cannot be read: a moment ago.' } as const;
      await fixture.store.write((tx) => keepPinned(tx, row, { ...readPinned(row.pinned)!, files }));
      assert.equal(await changedOf(fixture, moment), files.why);
      await assert.rejects(decideAs(fixture, moment, 'approve'), /Nothing was decided\./);
      await decideAs(fixture, moment, 'approve');

      const gone = await askForRun(fixture, 'drift', 'own', false);
      rmSync(own, { recursive: true });
      await assert.rejects(decideAs(fixture, gone, 'approve'), /have not been read yet\. .* svc job cancel job_/);
      mkdirSync(own);
      symlinkSync('/etc', join(own, 'out'));
      await fixture.serve();
      const why = await until('the daemon has looked', async () => {
        const found = await changedOf(fixture, gone);
        return found?.includes('read yet') === false ? found : undefined;
      });
      assert.match(why, /^The files of workspace own cannot be read: /);
      await assert.rejects(decideAs(fixture, gone, 'approve'), /cannot be read: .* Nothing was decided\./);
      await decideAs(fixture, gone, 'reject');
    });
  });
}
