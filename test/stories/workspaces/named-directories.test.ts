/** Directories of sources, workspaces and runs whose owner exchanges them after they were named. */
import assert from 'node:assert/strict';
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { giveTree, nameOf, ACCOUNTS } from '../../support/accounts/job-account.ts';
import { type Fixture, openFixture } from '../../support/fixtures/installation.ts';
import { linesOf } from '../../support/infrastructure.ts';
import { needs } from '../../support/tools.ts';
import { rewrite } from '../../support/store/rewrite.ts';
import type { AccountIds } from '../../../src/domain/jobs/account.ts';

const SECRET = 'secret-of-root';
const ENDED = ['succeeded', 'failed', 'cancelled', 'interrupted'];
const REQUIREMENTS = `---\ncollections: [${SECRET}]\n`;

interface Scene {
  readonly fixture: Fixture;
  readonly net: string;
  /** What the owner of its folder does: from now on the path is a link to a folder that root alone may read. */
  readonly exchange: () => void;
  readonly restore: () => void;
}

async function scene(t: TestContext, account: AccountIds | null): Promise<Scene> {
  const fixture = await openFixture(t);
  const home = join(fixture.dir, 'home');
  const net = join(home, 'net');
  mkdirSync(net, { recursive: true });
  writeFileSync(join(net, 'main.tf'), '');
  writeFileSync(join(net, 'site.yml'), '[]\n');
  giveTree(home, account);
  const closed = join(fixture.dir, 'closed');
  mkdirSync(closed, { mode: 0o700 });
  for (const name of ['requirements.yml', 'main.tf', 'site.yml'])
    writeFileSync(join(closed, name), REQUIREMENTS, { mode: 0o600 });
  return {
    fixture,
    net,
    exchange() {
      renameSync(net, `${net}-before`);
      symlinkSync(closed, net);
    },
    restore() {
      rmSync(net);
      renameSync(`${net}-before`, net);
    },
  };
}

async function queued(fixture: Fixture, operation: string, raw: object): Promise<string> {
  return (await fixture.call<{ job_id: string }>(operation, raw)).job_id;
}

async function outputOf(fixture: Fixture, id: string): Promise<string> {
  assert.equal((await fixture.waitFor(id, ENDED)).state, 'failed');
  return (await linesOf(fixture, id)).join('\n');
}

async function ledgerOf(fixture: Fixture, operation: string): Promise<string[]> {
  const { db } = fixture.store;
  const rows = await db.selectFrom('ledger').select('target').where('operation', '=', operation).execute();
  return rows.map(({ target }) => target ?? '');
}

const LINK = 'its path leads through a symbolic link.';

for (const account of ACCOUNTS) {
  test(
    `T86: a run whose directory is a link by now fails and says what to do, ${nameOf(account)}`,
    { skip: needs('Linux', 'Landlock ABI 4') },
    async (t) => {
      const { fixture, net, exchange } = await scene(t, account);
      await fixture.call('source.add', { name: 'net', dir: net });
      await fixture.call('workspace.add', { name: 'web', dir: net });
      const vendor = await queued(fixture, 'vendor', { source: 'net' });
      const plan = await queued(fixture, 'workspace.plan', { name: 'web' });
      const raw = { playbook: 'site.yml', dir: net, inventory: 'localhost' };
      const playbook = await queued(fixture, 'playbook.run', raw);
      exchange();
      for (const [operation, more] of [
        ['vendor', { source: 'net' }],
        ['hooks.show', { source: 'net' }],
      ] as const)
        await assert.rejects(fixture.call(operation, more), { message: /its path leads through a symbolic link\./ });
      await fixture.serve();
      for (const [id, whose, cure] of [
        [vendor, 'source net', 'svc source add net --dir DIR --replace'],
        [plan, 'workspace web', 'svc workspace update web --dir DIR'],
        [playbook, 'this run', 'ask for a new run with --dir DIR'],
      ] as const) {
        const output = await outputOf(fixture, id);
        const sentence = `The directory of ${whose} is not the one that was named: ${LINK} Nothing of it is used.`;
        assert.ok(output.includes(`${sentence} If this change is yours: ${cure}`), output);
        assert.ok(!output.includes(SECRET) && !output.includes(fixture.dir), output);
      }
    },
  );

  test(
    `T86: another folder in the place of a directory is used after a sync, ${nameOf(account)}`,
    { skip: needs('Linux', 'Landlock ABI 4') },
    async (t) => {
      const { fixture, net } = await scene(t, account);
      await fixture.call('source.add', { name: 'net', dir: net });
      const vendor = await queued(fixture, 'vendor', { source: 'net' });
      renameSync(net, `${net}-before`);
      mkdirSync(net);
      giveTree(net, account);
      await fixture.serve();
      assert.match(await outputOf(fixture, vendor), /another folder is at its path now\. .*: svc source sync net$/);
      await fixture.call('source.sync', { name: 'net' });
      const again = await queued(fixture, 'vendor', { source: 'net' });
      assert.match(await outputOf(fixture, again), /^Source net declares nothing to fetch\./m);
    },
  );

  test(
    `T86: a directory that an earlier build added is kept at its first run, without links, ${nameOf(account)}`,
    { skip: needs('Linux', 'Landlock ABI 4') },
    async (t) => {
      const { fixture, net, exchange, restore } = await scene(t, account);
      await fixture.call('source.add', { name: 'net', dir: net });
      await fixture.call('workspace.add', { name: 'web', dir: net });
      for (const table of ['sources', 'workspaces'] as const) await rewrite(fixture.store, table, { dir_kept: null });
      const first = await queued(fixture, 'vendor', { source: 'net' });
      exchange();
      await fixture.serve();
      assert.ok((await outputOf(fixture, first)).includes(LINK));
      assert.deepEqual(await ledgerOf(fixture, 'source.keep'), []);
      restore();
      await outputOf(fixture, await queued(fixture, 'vendor', { source: 'net' }));
      await fixture.waitFor(await queued(fixture, 'workspace.plan', { name: 'web' }), ENDED);
      assert.deepEqual(await ledgerOf(fixture, 'source.keep'), ['net']);
      assert.deepEqual(await ledgerOf(fixture, 'workspace.keep'), ['web']);
      renameSync(net, `${net}-before`);
      mkdirSync(net);
      await assert.rejects(queued(fixture, 'vendor', { source: 'net' }), { message: /another folder is at its path/ });
    },
  );
}

test(
  'T86: a link in the path of a directory is followed once, when it is named',
  { skip: needs('Linux') },
  async (t) => {
    const { fixture, net } = await scene(t, null);
    const link = join(fixture.dir, 'link');
    symlinkSync(net, link);
    await fixture.call('source.add', { name: 'net', dir: link });
    await fixture.call('workspace.add', { name: 'web', dir: link });
    rmSync(link);
    const { db } = fixture.store;
    const { location } = await db.selectFrom('sources').select('location').executeTakeFirstOrThrow();
    const { path } = await db.selectFrom('workspaces').select('path').executeTakeFirstOrThrow();
    assert.deepEqual([location, path], [net, net]);
    await fixture.call('source.sync', { name: 'net' });
    symlinkSync(net, link);
    await fixture.call('workspace.update', { name: 'web', dir: link });
    assert.equal((await db.selectFrom('workspaces').select('path').executeTakeFirstOrThrow()).path, net);
  },
);
