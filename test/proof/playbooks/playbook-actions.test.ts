/** Playbooks that a rule and a schedule ask for, run by a real daemon. */
import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { receive } from '../../../src/reaction/receive.ts';
import { writeTree } from '../../support/ansible/bare-run.ts';
import { type Fixture, openFixture } from '../../support/fixtures/installation.ts';
import { alert, WEBHOOK } from '../../support/fixtures/reaction.ts';
import { needs } from '../../support/tools.ts';

const DONE = ['succeeded', 'degraded', 'failed', 'cancelled', 'interrupted'];

const RULE = `
name: clean
when: event.source == "generic" && event.labels.instance != ""
action:
  playbook: clean.yml
  source: ops
  inventory: localhost
  limit: \${event.labels.instance}
  tags: [clean]
  check: true
  extra_vars: { canary: "\${event.labels.mountpoint}" }
  timeout: 15m
`;

/** A directory outside of runs, which jobs of another account may write. */
function outOf({ dir }: Fixture): string {
  return join(dir, 'out');
}

async function prepare(fixture: Fixture): Promise<void> {
  const dir = join(fixture.dir, 'ops');
  mkdirSync(dir);
  writeTree(dir, {
    'clean.yml': `
- hosts: all
  gather_facts: false
  tasks:
    - debug: { msg: "cleans {{ canary }}" }
      tags: [clean]
    - file: { path: ${outOf(fixture)}/made, state: touch }
      check_mode: false
      tags: [clean]
    - fail: { msg: "not asked for" }
`,
  });
  await fixture.call('source.add', { name: 'ops', dir });
}

test(
  'A rule runs a playbook on the host of the event and lets it write a directory; its view has the identifiers alone',
  { skip: needs('ansible-playbook') },
  async (t) => {
    const fixture = await openFixture(t);
    await prepare(fixture);
    mkdirSync(outOf(fixture));
    chmodSync(outOf(fixture), 0o777);
    const text = `${RULE}  writable: [${outOf(fixture)}]\n`;
    const rule = await fixture.call<{ action: object }>('rule.add', { text });
    assert.deepEqual(rule.action, {
      kind: 'playbook',
      source: 'ops',
      playbook: 'clean.yml',
      inventory: 'localhost',
      limit: '${event.labels.instance}',
      tags: ['clean'],
      check: true,
      diff: false,
      timeout: '15m',
    });
    await assert.rejects(fixture.call('source.remove', { name: 'ops' }), /The rule clean uses source ops/);
    await fixture.start();
    const labels = { instance: 'localhost:9100', mountpoint: '/srv/data' };
    const [outcome] = await receive(fixture.services.reaction, [alert({ labels })], WEBHOOK);
    const [job = assert.fail(JSON.stringify(outcome))] = await fixture.store.db
      .selectFrom('jobs')
      .selectAll()
      .execute();
    assert.deepEqual(
      [job.kind, job.runbook, job.source, job.concurrency_key],
      ['playbook', 'rule:clean', 'ops', 'playbook:localhost'],
    );
    const ended = await fixture.waitFor(job.id, DONE, 120_000);
    const log = (await fixture.events(job.id))
      .flatMap((event) => (event.type === 'log' ? [event.text] : []))
      .join('\n');
    assert.equal(ended.state, 'succeeded', log);
    assert.match(log, /cleans \/srv\/data/);
    assert.doesNotMatch(log, /not asked for/);
    assert.ok(existsSync(join(outOf(fixture), 'made')), log);
  },
);

test('A rule refuses a playbook of a source, an inventory or a host that does not exist', async (t) => {
  const fixture = await openFixture(t);
  await prepare(fixture);
  const refusals: readonly (readonly [string, string, RegExp])[] = [
    ['source: ops', 'source: other', /source other/],
    ['inventory: localhost', 'inventory: prod', /inventory prod/],
    ['${event.labels.instance}', 'db9', /limit: host "db9" is not in inventory/],
  ];
  for (const [from, to, message] of refusals)
    await assert.rejects(fixture.call('rule.add', { text: RULE.replace(from, to) }), message);
  await assert.rejects(
    fixture.call('schedule.add', { name: 's', cron: '0 3 * * *', playbook: 'clean.yml', inventory: 'localhost' }),
    /source: required with a playbook/,
  );
  const { action } = await fixture.call<{ action: object }>('schedule.add', {
    name: 'nightly',
    cron: '0 3 * * *',
    playbook: 'clean.yml',
    source: 'ops',
    inventory: 'localhost',
    tags: 'clean',
    extra_vars: { canary: 'x' },
  });
  assert.deepEqual(action, {
    kind: 'playbook',
    source: 'ops',
    playbook: 'clean.yml',
    inventory: 'localhost',
    limit: null,
    tags: ['clean'],
    check: false,
    diff: false,
    timeout: null,
  });
});
