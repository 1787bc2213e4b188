/** Jobs that run as the account of the daemon, and change modes that Landlock does not keep them from. */
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { isRoot } from '../../../src/config/job-account.ts';
import { until } from '../../support/api-client.ts';
import { linesOf } from '../../support/infrastructure.ts';
import { openFixture, type Fixture } from '../../support/fixtures/installation.ts';
import { needs } from '../../support/tools.ts';

const SAME_ACCOUNT = { args: isRoot() ? ['--job-user', 'root'] : [] };

async function changesOf(fixture: Fixture): Promise<{ changes: { entry: string; found: string }[]; jobs: string[] }[]> {
  const rows = await fixture.store.db
    .selectFrom('ledger')
    .select('detail')
    .where('operation', '=', 'data_dir.modes')
    .orderBy('seq')
    .execute();
  return rows.map(
    ({ detail }) => JSON.parse(detail) as { changes: { entry: string; found: string }[]; jobs: string[] },
  );
}

test(
  'T71: a job opens and closes the data directory and the seal key; the next run works',
  { skip: needs('Landlock ABI 4') },
  async (t) => {
    const fixture = await openFixture(t);
    const data = join(fixture.dir, 'data');
    const paths = [data, join(data, 'gatehouse.db'), join(fixture.dir, 'seal.key')];
    const root = join(fixture.dir, 'net');
    mkdirSync(root);
    writeFileSync(join(root, 'main.tf'), 'output "x" {\n  value = 1\n}\n');
    chmodSync(root, 0o755);
    await fixture.call('workspace.add', { name: 'net', dir: root });
    await fixture.serve(SAME_ACCOUNT);
    for (const mode of ['777', '000']) {
      const attack = await fixture.queue({
        command: ['sh', '-c', `chmod ${mode} ${paths.toReversed().join(' ')} && echo changed`],
        privileged: false,
      });
      await fixture.waitFor(attack, ['succeeded', 'failed']);
      assert.deepEqual(
        await linesOf(fixture, attack),
        ['changed'],
        'the attack itself works: Landlock does not cover chmod',
      );
      const { job_id: plan } = await fixture.call<{ job_id: string }>('workspace.plan', { name: 'net' });
      const end = await fixture.waitFor(plan, ['succeeded', 'failed']);
      assert.equal(end.state, 'succeeded', (await linesOf(fixture, plan)).join('\n'));
      await until('the modes are right', () =>
        paths.every((path) => (statSync(path).mode & 0o077) === 0 && (statSync(path).mode & 0o600) === 0o600),
      );
      // One look of the daemon may fall between two changes of the job: then the ledger has a row for each part.
      const rows = await until('the ledger names all three', async () => {
        const recorded = (await changesOf(fixture)).filter(({ changes }) =>
          changes.some(({ found }) => found === `0${mode}`),
        );
        return recorded.flatMap(({ changes }) => changes).length >= paths.length ? recorded : undefined;
      });
      assert.ok(
        rows.every(({ jobs }) => jobs.includes(attack)),
        JSON.stringify(rows),
      );
      assert.deepEqual(rows.flatMap(({ changes }) => changes.map(({ entry }) => entry)).toSorted(), [
        '.',
        'gatehouse.db',
        'seal.key',
      ]);
    }
  },
);
