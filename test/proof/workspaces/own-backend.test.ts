/** A root with its own backend keeps it: the serial is read from there, and a change there is seen. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { Failure } from '../../../src/domain/failure.ts';
import { addWorkspace, items, linesOf, runToEnd } from '../../support/infrastructure.ts';
import { openFixture, type Fixture } from '../../support/fixtures/installation.ts';
import { needs } from '../../support/tools.ts';

interface StateServer {
  readonly url: string;
  /** What it holds; null before the first write. */
  state: { serial: number; lineage: string } | null;
  /** Refuses what is written from now on. */
  refuse: boolean;
  close(): Promise<void>;
}

/** Terraform's http backend: GET reads, POST writes. */
async function startStateServer(): Promise<StateServer> {
  const server: Server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (chunk: Buffer) => parts.push(chunk));
    request.on('end', () => {
      if (request.method === 'POST' && !self.refuse)
        self.state = JSON.parse(Buffer.concat(parts).toString()) as StateServer['state'];
      if (request.method === 'POST') response.writeHead(self.refuse ? 403 : 200).end();
      else if (self.state === null) response.writeHead(404).end();
      else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(self.state));
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const self: StateServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/state`,
    state: null,
    refuse: false,
    close: () => new Promise((resolve) => void server.close(() => resolve())),
  };
  return self;
}

const rootOf = (url: string, count: number): string =>
  `terraform {\n  backend "http" {\n    address = "${url}"\n    retry_max = 0\n  }\n}\n${items(count)}`;

interface Seen {
  readonly serial: number | null;
}

const serialOf = async (fixture: Fixture): Promise<number | null> =>
  (await fixture.call<Seen>('workspace.get', { name: 'own' })).serial;

async function planOf(fixture: Fixture): Promise<string> {
  const job = await runToEnd(fixture, 'plan', 'own');
  assert.equal(job.state, 'succeeded', (await linesOf(fixture, job.id)).join('\n'));
  return job.plan_artifact_id ?? assert.fail('no plan was saved');
}

describe('A root with its own backend', { skip: needs('terraform or tofu', 'Landlock ABI 4') }, () => {
  test('is applied through it, and its serial is read from it', async (t) => {
    const fixture = await openFixture(t);
    const server = await startStateServer();
    t.after(() => server.close());
    await fixture.serve();
    await addWorkspace(fixture, 'own', rootOf(server.url, 2));
    const first = await planOf(fixture);
    const applied = await runToEnd(fixture, 'apply', 'own', { plan: first });
    assert.equal(applied.state, 'succeeded', (await linesOf(fixture, applied.id)).join('\n'));
    assert.ok(server.state !== null);
    assert.equal(await serialOf(fixture), server.state.serial);
    assert.deepEqual(
      await fixture.call('workspace.state', { name: 'own' }),
      [],
      'the service has kept a state that is not its own',
    );

    // Another program changes the state: an earlier plan is stale once that is seen, and no user is named for it.
    const late = await planOf(fixture);
    server.state = { ...server.state, serial: server.state.serial + 5 };
    const refused = await runToEnd(fixture, 'apply', 'own', { plan: late });
    assert.equal(refused.state, 'failed');
    assert.match((await linesOf(fixture, refused.id)).join('\n'), /stale.*Nothing was applied/);
    const another = await planOf(fixture);
    assert.equal(await serialOf(fixture), server.state.serial);
    server.state = { ...server.state, serial: server.state.serial + 1 };
    await runToEnd(fixture, 'drift', 'own');
    await assert.rejects(fixture.call('workspace.apply', { name: 'own', plan: another }), (error) => {
      assert.ok(error instanceof Failure && error.code === 'stale_plan');
      assert.equal((error.extra['stale'] as { moved_by_job?: string }).moved_by_job, undefined);
      return true;
    });
  });

  test('is initialised again only when its settings change', async (t) => {
    const fixture = await openFixture(t);
    const [one, other] = [await startStateServer(), await startStateServer()];
    for (const server of [one, other]) t.after(() => server.close());
    await fixture.serve();
    const dir = await addWorkspace(fixture, 'own', rootOf(one.url, 1));
    const isLeftOut = async (verb: 'plan' | 'apply' | 'drift'): Promise<boolean> => {
      const job = await runToEnd(fixture, verb, 'own');
      const log = (await linesOf(fixture, job.id)).join('\n');
      assert.equal(job.state, 'succeeded', log);
      return log.includes('init is left out');
    };
    assert.deepEqual(
      [await isLeftOut('plan'), await isLeftOut('apply'), await isLeftOut('drift')],
      [false, true, true],
    );
    assert.equal(await serialOf(fixture), one.state?.serial, 'the backend is read through what was kept');
    writeFileSync(join(dir, 'main.tf'), rootOf(other.url, 1));
    assert.deepEqual([await isLeftOut('apply'), await isLeftOut('plan')], [false, true]);
    assert.equal(await serialOf(fixture), other.state?.serial);
  });

  test('can be planned and applied again after its state is gone', async (t) => {
    const fixture = await openFixture(t);
    const server = await startStateServer();
    t.after(() => server.close());
    await fixture.serve();
    await addWorkspace(fixture, 'own', rootOf(server.url, 1));
    assert.equal((await runToEnd(fixture, 'apply', 'own', { plan: await planOf(fixture) })).state, 'succeeded');
    server.state = null;
    assert.equal((await runToEnd(fixture, 'apply', 'own', { plan: await planOf(fixture) })).state, 'succeeded');
  });

  test('has the state that it could not write set aside, for a person to bring there', async (t) => {
    const fixture = await openFixture(t);
    const server = await startStateServer();
    t.after(() => server.close());
    await fixture.serve();
    await addWorkspace(fixture, 'own', rootOf(server.url, 1));
    server.refuse = true;
    const job = await runToEnd(fixture, 'apply', 'own');
    assert.equal(job.state, 'failed');
    assert.match((await linesOf(fixture, job.id)).join('\n'), /set aside/);
    const [aside] = await fixture.call<{ version: number; resources: number }[]>('workspace.state', { name: 'own' });
    assert.ok(aside !== undefined && aside.version < 0);
    assert.equal(aside.resources, 1);
    server.refuse = false;
    const next = await runToEnd(fixture, 'plan', 'own');
    assert.match((await linesOf(fixture, next.id)).join('\n'), /set aside \(version -1\)/);
  });

  test('has its state read in once the backend is removed, as the newest version', async (t) => {
    const fixture = await openFixture(t);
    const server = await startStateServer();
    t.after(() => server.close());
    await fixture.serve();
    const dir = await addWorkspace(fixture, 'own', rootOf(server.url, 1));
    assert.equal((await runToEnd(fixture, 'apply', 'own')).state, 'succeeded');
    writeFileSync(join(dir, 'main.tf'), items(1));
    writeFileSync(join(dir, 'terraform.tfstate'), JSON.stringify(server.state));
    await planOf(fixture);
    const versions = await fixture.call<{ version: number; serial: number }[]>('workspace.state', { name: 'own' });
    assert.deepEqual(
      versions.map(({ version, serial }) => [version, serial]),
      [[1, server.state?.serial]],
    );
    assert.equal((await runToEnd(fixture, 'apply', 'own', { plan: await planOf(fixture) })).state, 'succeeded');
  });

  test('in local files is refused, because they would be lost with the copy', async (t) => {
    const fixture = await openFixture(t);
    await fixture.serve();
    const dir = await addWorkspace(
      fixture,
      'own',
      `terraform {\n  backend "local" {\n    path = "here.tfstate"\n  }\n}\n${items(1)}`,
    );
    const alone = await runToEnd(fixture, 'plan', 'own');
    const state = { version: 4, terraform_version: '1.9.0', serial: 3, lineage: 'a', outputs: {}, resources: [] };
    for (const name of ['terraform.tfstate', 'here.tfstate']) writeFileSync(join(dir, name), JSON.stringify(state));
    for (const { id, state: ended } of [alone, await runToEnd(fixture, 'plan', 'own')]) {
      assert.equal(ended, 'failed');
      const said = await linesOf(fixture, id);
      assert.match(said.at(-1) ?? '', /Remove the backend block/);
    }
  });

  test('in a named workspace is refused until it is read in, because all would be made a second time', async (t) => {
    const fixture = await openFixture(t);
    await fixture.serve();
    const dir = await addWorkspace(fixture, 'own', items(1));
    const state = { version: 4, terraform_version: '1.9.0', serial: 3, lineage: 'prod', outputs: {}, resources: [] };
    mkdirSync(join(dir, 'terraform.tfstate.d', 'prod'), { recursive: true });
    const file = join(dir, 'terraform.tfstate.d', 'prod', 'terraform.tfstate');
    writeFileSync(file, JSON.stringify(state));
    const job = await runToEnd(fixture, 'plan', 'own');
    assert.equal(job.state, 'failed');
    const said = (await linesOf(fixture, job.id)).join('\n');
    assert.match(said, /the state terraform\.tfstate\.d\/prod\/terraform\.tfstate of a named workspace/);
    await fixture.call('workspace.restore', { name: 'own', file });
    await planOf(fixture);
  });
});
