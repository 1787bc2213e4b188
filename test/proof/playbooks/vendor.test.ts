/** What a source declares is fetched by the real tools from loopback, and later runs use it without the network. */
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { writeTree } from '../../support/ansible/bare-run.ts';
import { runsDirFor } from '../../support/daemon.ts';
import { type Fixture, openFixture } from '../../support/fixtures/installation.ts';
import { linesOf } from '../../support/infrastructure.ts';
import { tarball, type TarEntry } from '../../support/sources/archives.ts';
import { type Registry, startRegistry, terraformFor } from '../../support/sources/registry.ts';
import { needs, TERRAFORM } from '../../support/tools.ts';

const DONE = ['succeeded', 'failed', 'cancelled', 'interrupted'];
const OPTIONS = { skip: needs('ansible-playbook', TERRAFORM) };

const COLLECTION: readonly TarEntry[] = [
  { path: 'plugins/modules/hello.py', text: '#!/usr/bin/python3\nprint(\'{"changed": false}\')\n' },
  {
    path: 'plugins/filter/shout.py',
    text: "class FilterModule:\n    def filters(self): return {'shout': str.upper}\n",
  },
];
const ROLE = tarball([
  { path: 'web-1/meta/main.yml', text: 'galaxy_info: {author: x, description: x, license: x}\ndependencies: []\n' },
  { path: 'web-1/tasks/main.yml', text: '- debug: msg="hello of the role"\n' },
  { path: 'web-1/filter_plugins/sneaky.py', text: "import os\nos.write(2, b'MARK')\n" },
]);
const play = (task: string): string => `- hosts: all\n  gather_facts: false\n  roles: [web]\n  tasks:\n    - ${task}\n`;

function filesOf({ url, port }: Registry): Record<string, string> {
  const provider = `demo = { source = "localhost:${port}/acme/demo" }`;
  return {
    'requirements.yml':
      `collections:\n  - name: acme.tools\n    version: ">=1.0.0"\n    source: ${url}\n` +
      `roles:\n  - name: web\n    src: ${url}/web.tar.gz\n`,
    'module.yml': play('acme.tools.hello:'),
    'filter.yml': play(`debug: msg="{{ 'loud' | acme.tools.shout }}"`),
    'net/main.tf': `terraform {\n  required_providers {\n    ${provider}\n  }\n}\n`,
  };
}

async function end(fixture: Fixture, operation: string, raw: object) {
  const { job_id: id } = await fixture.call<{ job_id: string }>(operation, raw);
  const job = await fixture.waitFor(id, DONE, 120_000);
  return { id, job, log: (await linesOf(fixture, id)).join('\n') };
}

const playbook = (fixture: Fixture, source: string, name: string) =>
  end(fixture, 'playbook.run', { playbook: name, source, inventory: 'localhost' });

describe('svc vendor', OPTIONS, () => {
  it('fetches collections, roles and providers, which later runs use without the network', async (t) => {
    const fixture = await openFixture(t);
    await using registry = await startRegistry({ 'acme.tools': COLLECTION }, { '/web.tar.gz': ROLE });
    const dir = join(fixture.dir, 'ops');
    mkdirSync(dir);
    writeTree(dir, filesOf(registry));
    await fixture.call('source.add', { name: 'ops', dir });
    await fixture.call('source.add', { name: 'trusted', dir, plugins: true });
    await fixture.call('workspace.add', { name: 'net', source: 'ops', path: 'net' });
    await fixture.start({ env: { PATH: terraformFor(registry, join(fixture.dir, 'bin')) } });

    const fetched = await end(fixture, 'vendor', { source: 'ops' });
    const { job } = fetched;
    assert.deepEqual(
      [job.state, job.exit_code, job.kind, job.runbook, job.source, job.concurrency_key],
      ['succeeded', 0, 'vendor', 'vendor:ops', 'ops', 'vendor:ops'],
      fetched.log,
    );
    assert.match(fetched.log, /Fetched 1 collections, 1 roles and 1 archives of providers .*: acme\.tools, web\./);
    assert.match(fetched.log, /Left out: .*plugins\/filter, roles\/web\/filter_plugins\./);
    assert.equal((await end(fixture, 'vendor', { source: 'trusted' })).job.state, 'succeeded');
    await registry.close();

    const module = await playbook(fixture, 'ops', 'module.yml');
    assert.equal(module.job.state, 'succeeded', module.log);
    assert.match(module.log, new RegExp(`Uses the collections and roles that ${fetched.id} fetched for this source`));
    assert.match(module.log, /"msg": "hello of the role"/);
    assert.doesNotMatch(module.log, /MARK|declares other/);
    const filter = await playbook(fixture, 'ops', 'filter.yml');
    assert.deepEqual([filter.job.state, /acme\.tools\.shout/.test(filter.log)], ['failed', true], filter.log);
    const trusted = await playbook(fixture, 'trusted', 'filter.yml');
    assert.match(trusted.log, /"msg": "LOUD"/);
    assert.match(trusted.log, /MARK/, 'the test above tests something');

    const plan = await end(fixture, 'workspace.plan', { name: 'net' });
    assert.match(plan.log, /Installed localhost:\d+\/acme\/demo v1\.0\.0/);

    // What cannot be fetched leaves the files of the job before.
    writeTree(dir, { 'requirements.yml': `collections: [{name: acme.other, source: "${registry.url}"}]` });
    const failed = await end(fixture, 'vendor', { source: 'ops' });
    assert.equal(failed.job.state, 'failed');
    assert.ok((failed.job.exit_code ?? 0) > 0, 'the exit code of ansible-galaxy');
    const again = await playbook(fixture, 'ops', 'module.yml');
    assert.equal(again.job.state, 'succeeded', again.log);
    assert.match(again.log, /declares other collections or roles since then/);

    const kept = join(runsDirFor(join(fixture.dir, 'data')), '.vendored');
    assert.deepEqual(readdirSync(kept).toSorted(), ['ops', 'trusted']);
    assert.deepEqual(readdirSync(join(kept, 'ops')), [fetched.id]);
    await fixture.call('workspace.remove', { name: 'net', force: true });
    await fixture.call('source.remove', { name: 'ops' }).catch(() => undefined);
    assert.deepEqual(fixture.leftRuns(), []);
  });
});
