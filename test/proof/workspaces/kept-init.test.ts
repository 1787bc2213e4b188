/** `init` is left out where nothing that it depends on has changed, and runs in every other case. */
import assert from 'node:assert/strict';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { addWorkspace, items, linesOf, type RunVerb, runToEnd } from '../../support/infrastructure.ts';
import { runsDirFor } from '../../support/daemon.ts';
import { openFixture, type Fixture } from '../../support/fixtures/installation.ts';
import { until } from '../../support/api-client.ts';
import { find, needs } from '../../support/tools.ts';

const NAME = find('terraform') === null ? 'tofu' : 'terraform';
const LEFT_OUT = /init is left out: nothing that it depends on has changed since (job_\w+) ran it at 2\S+Z\.$/m;
const INITIALISED = /Terraform has been successfully initialized|OpenTofu has been successfully initialized/;

/** A local module: with it, init leaves a folder. */
const MODULE = 'module "m" {\n  source = "./m"\n}\n';

describe('terraform init', { skip: needs('terraform or tofu') }, () => {
  let fixture: Fixture;
  const env = { PATH: '' };
  const endings: (() => Promise<void>)[] = [];
  const kept = (): string => join(runsDirFor(join(fixture.dir, 'data')), '.initialised');
  const keptOf = (name: string): string => join(kept(), name, readdirSync(join(kept(), name))[0] ?? '');
  before(async () => {
    fixture = await openFixture({ after: (step) => void endings.push(step) });
    const bin = join(fixture.dir, 'bin');
    mkdirSync(bin, { mode: 0o755 });
    writeFileSync(join(bin, NAME), `#!/bin/sh\nexec ${find(NAME) ?? NAME} "$@"\n`);
    chmodSync(join(bin, NAME), 0o755);
    env.PATH = `${bin}:${process.env['PATH'] ?? ''}`;
    await fixture.start({ env });
  });
  test.after(async () => {
    for (const step of endings.toReversed()) await step();
  });

  /** Runs it to its end; whether init ran, and the log. */
  async function run(verb: RunVerb, name: string, raw: object = {}, state = 'succeeded') {
    const job = await runToEnd(fixture, verb, name, raw);
    const log = (await linesOf(fixture, job.id)).join('\n');
    assert.equal(job.state, state, log);
    const [, since = null] = LEFT_OUT.exec(log) ?? [];
    assert.equal(INITIALISED.test(log), since === null, log);
    return { job, log, since };
  }

  async function withModule(name: string, rest = ''): Promise<string> {
    const dir = await addWorkspace(fixture, name, MODULE + rest);
    mkdirSync(join(dir, 'm'));
    writeFileSync(join(dir, 'm', 'main.tf'), items(1));
    return dir;
  }

  /** The next run of the workspace `changed` calls init, and the one after it does not. */
  async function again(why: string, raw: object = {}): Promise<void> {
    assert.equal((await run('plan', 'changed', raw)).since, null, why);
    assert.notEqual((await run('plan', 'changed', raw)).since, null, `${why}: and is kept`);
  }

  test('is left out of the second plan, a drift, a saved and a fresh apply and a destroy', async () => {
    await withModule('all');
    const { id } = (await run('plan', 'all')).job;
    const second = await run('plan', 'all');
    assert.equal(second.since, id);
    assert.equal((await run('apply', 'all', { plan: second.job.plan_artifact_id })).since, id);
    for (const verb of ['drift', 'apply', 'destroy', 'plan'] as const) assert.equal((await run(verb, 'all')).since, id);
    assert.deepEqual(fixture.leftRuns(), []);
  });

  test('is left out of a root that needs nothing', async () => {
    await addWorkspace(fixture, 'bare', items(1));
    const { job } = await run('plan', 'bare');
    assert.equal((await run('drift', 'bare')).since, job.id);
    assert.deepEqual(readdirSync(join(keptOf('bare'), 'files')), []);
  });

  test('runs again after a change of the files, a module, the tool or the secrets', async () => {
    const dir = await withModule('changed', 'variable "x" {\n  default = ""\n}\n');
    await again('the first');
    appendFileSync(join(dir, 'm', 'main.tf'), '\noutput "one" {\n  value = 1\n}\n');
    await again('a module');
    writeFileSync(join(dir, '.terraform.lock.hcl'), '# This file is maintained automatically.\n');
    await again('the lock file');
    writeFileSync(join(dir, 'other.txt'), 'x');
    chmodSync(join(dir, 'other.txt'), 0o755);
    await again('a program');
    appendFileSync(join(fixture.dir, 'bin', NAME), '# another build\n');
    await again('the tool');
    await fixture.call('secret.set', { secret: 'net/x', value: 'one-long-value' });
    const raw = { run_secrets: { x: 'net/x' } };
    await again('a secret', raw);
    await fixture.call('secret.set', { secret: 'net/x', value: 'other-long-value' });
    await again('the value of a secret', raw);
    await fixture.call('workspace.remove', { name: 'changed', force: true });
    await fixture.call('workspace.add', { name: 'changed', dir });
    await again('another workspace of that name');
  });

  test('T79: is not replaced by a copy that was altered', async () => {
    await withModule('altered');
    const alterations: readonly ((files: string) => void)[] = [
      (files) => appendFileSync(join(files, 'modules', 'modules.json'), ' '),
      (files) => rmSync(join(files, 'modules', 'modules.json')),
      (files) => mkdirSync(join(files, 'providers')),
      (files) => chmodSync(join(files, 'modules', 'modules.json'), 0o700),
      (files) => writeFileSync(join(files, 'more'), ''),
      (files) => symlinkSync('/etc/passwd', join(files, 'more')),
      (files) => symlinkSync('modules', join(files, 'more')),
      (files) => rmSync(files, { recursive: true }),
    ];
    for (const [at, alter] of alterations.entries()) {
      await run('plan', 'altered');
      alter(join(keptOf('altered'), 'files'));
      const { since, log } = await run('plan', 'altered');
      assert.equal(since, null, `alteration ${at}`);
      assert.match(log, /What is kept of the last init cannot be used, so init runs: /);
      assert.doesNotMatch(log, /kept-init|initialised\//, 'a path of the service');
    }
    writeFileSync(join(keptOf('altered'), 'kept.json'), '{"key":');
    assert.equal((await run('plan', 'altered')).since, null, 'half a manifest');
  });

  test('T79: a program of a run neither reads nor changes what later runs get', async () => {
    await withModule('first');
    await run('plan', 'first');
    const secret = keptOf('first');
    const before = readFileSync(join(secret, 'files', 'modules', 'modules.json'), 'utf8');
    const attack = [
      `(ls ${kept()}; cat ${secret}/kept.json ${secret}/files/modules/modules.json) | sed s/^/theirs:/`,
      `echo hostile > ${secret}/files/modules/modules.json`,
      `mv ${kept()} ${kept()}-away`,
      `ln -s /etc .terraform/etc`,
      `echo hostile > .terraform/modules/modules.json`,
      'cat .terraform/modules/modules.json | sed s/^/mine:/',
    ];
    const command = JSON.stringify(`(${attack.join('; ')}) 2>/dev/null; true`);
    const exec = `resource "terraform_data" "x" {\n  provisioner "local-exec" {\n    command = ${command}\n  }\n}\n`;
    await withModule('hostile', exec);
    const { log, job } = await run('apply', 'hostile');
    assert.match(log, /\(local-exec\): mine:hostile/, 'the command ran');
    assert.doesNotMatch(log, /\(local-exec\): theirs:/);
    assert.equal(readFileSync(join(secret, 'files', 'modules', 'modules.json'), 'utf8'), before);
    assert.equal(lstatSync(kept()).mode & 0o777, 0o700);
    assert.equal((await run('destroy', 'hostile')).since, job.id);
    assert.notEqual((await run('plan', 'first')).since, null);
  });

  test('runs again after a run without it has failed', async () => {
    const exec = 'resource "terraform_data" "x" {\n  provisioner "local-exec" {\n    command = "exit 1"\n  }\n}\n';
    await withModule('failing', exec);
    const sinces: boolean[] = [];
    for (let round = 0; round < 3; round += 1)
      sinces.push((await run('apply', 'failing', {}, 'failed')).since === null);
    assert.deepEqual(sinces, [true, false, true]);
  });

  test('what is kept of a workspace that is gone is removed by the next daemon', async () => {
    await withModule('gone');
    await run('plan', 'gone');
    assert.ok(existsSync(join(kept(), 'gone')));
    await fixture.call('workspace.remove', { name: 'gone' });
    await fixture.start({ env });
    await until('it is removed', () => !existsSync(join(kept(), 'gone')));
    assert.ok(existsSync(join(kept(), 'all')));
  });
});
