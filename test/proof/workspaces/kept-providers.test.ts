/** `init` with providers is left out only with a lock file that says which ones. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { writeTree } from '../../support/ansible/bare-run.ts';
import { runsDirFor } from '../../support/daemon.ts';
import { openFixture } from '../../support/fixtures/installation.ts';
import { linesOf, runToEnd } from '../../support/infrastructure.ts';
import { startRegistry, terraformFor } from '../../support/sources/registry.ts';
import { find, needs, TERRAFORM } from '../../support/tools.ts';

const OPTIONS = { skip: needs(TERRAFORM) };
const INSTALLED = /Installed localhost:\d+\/acme\/demo v1\.0\.0/;

test('providers are installed again only when the lock file or what was fetched changes', OPTIONS, async (t) => {
  const fixture = await openFixture(t);
  await using registry = await startRegistry({});
  const dir = join(fixture.dir, 'ops');
  mkdirSync(dir);
  const provider = `demo = { source = "localhost:${registry.port}/acme/demo" }`;
  writeTree(dir, { 'net/main.tf': `terraform {\n  required_providers {\n    ${provider}\n  }\n}\n` });
  await fixture.call('source.add', { name: 'ops', dir });
  await fixture.call('workspace.add', { name: 'net', source: 'ops', path: 'net' });
  await fixture.start({ env: { PATH: terraformFor(registry, join(fixture.dir, 'bin')) } });
  const runs = runsDirFor(join(fixture.dir, 'data'));

  const vendor = async (): Promise<string> => {
    const { job_id: id } = await fixture.call<{ job_id: string }>('vendor', { source: 'ops' });
    const { state } = await fixture.waitFor(id, ['succeeded', 'failed'], 60_000);
    assert.equal(state, 'succeeded', (await linesOf(fixture, id)).join('\n'));
    return id;
  };
  /** It fails: the provider is a script that ends at once. It is started only from a package that has its hash. */
  const plan = async (): Promise<string> => {
    const job = await runToEnd(fixture, 'plan', 'net');
    const log = (await linesOf(fixture, job.id)).join('\n');
    assert.equal(job.state, 'failed', log);
    assert.match(log, /failed to instantiate provider/, log);
    return log;
  };
  const fetched = await vendor();
  for (let round = 0; round < 2; round += 1) {
    const log = await plan();
    assert.match(log, INSTALLED);
    assert.match(log, /Init runs again in the next run, because it changed \.terraform\.lock\.hcl/);
  }
  assert.deepEqual(
    readdirSync(runs).filter((name) => name === '.initialised'),
    [],
  );

  const mirror = join(runs, '.vendored', 'ops', fetched, 'providers');
  const config = join(fixture.dir, 'mirror.rc');
  writeFileSync(config, `provider_installation {\n  filesystem_mirror {\n    path = "${mirror}"\n  }\n}\n`);
  const tool = find('terraform') ?? find('tofu') ?? '';
  const env = { PATH: process.env['PATH'], HOME: fixture.dir, CHECKPOINT_DISABLE: '1', TF_CLI_CONFIG_FILE: config };
  execFileSync(tool, ['init', '-input=false'], { cwd: join(dir, 'net'), env, stdio: 'ignore' });
  assert.match(await plan(), INSTALLED);
  const kept = join(runs, '.initialised', 'net');
  const programs = readdirSync(kept, { recursive: true, encoding: 'utf8' })
    .map((name) => join(kept, name))
    .filter((path) => path.includes('terraform-provider-demo') && statSync(path).isFile());
  assert.deepEqual(
    programs.map((path) => statSync(path).mode & 0o777),
    [0o700],
  );

  const log = await plan();
  assert.match(log, /init is left out/);
  assert.doesNotMatch(log, INSTALLED);
  assert.deepEqual(readdirSync(join(runs, '.initialised')), [], 'dropped, because the run failed');

  await plan();
  await vendor();
  assert.match(await plan(), INSTALLED);
  assert.match(await plan(), /init is left out/);
  assert.deepEqual(fixture.leftRuns(), []);
});
