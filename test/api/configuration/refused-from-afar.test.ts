/** A configuration file over the API: what is refused, and that who decides sees all of the rest. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { apply } from '../../support/configuration/config-files.ts';
import { ask, decide, names, order, rules, send, start } from '../../support/configuration/from-afar.ts';
import { ask as visit, openDecisionFixture } from '../../support/fixtures/decisions.ts';
import { callLocally } from '../../support/fixtures/workspaces.ts';
import { startProgram } from '../../support/program.ts';
import { until } from '../../support/store/work-scene.ts';

const RUNS = { command: ['id'], inventory: 'localhost' };
const WITH_PASSWORD = { playbook: 'a.yml', source: 'o', inventory: 'prod', extra_vars: { db_password: 'x' } };
const WRITES = { writable: ['/srv'] };

describe('From afar a file is refused', () => {
  const REFUSED: readonly (readonly [string, string, RegExp])[] = [
    [
      'privileged',
      'rules:\n  - {name: a, when: "true", action: {command: ["id"], inventory: localhost, privileged: true}}',
      /rules\.a.*privileged/,
    ],
    [
      'writable',
      `schedules:\n  - ${JSON.stringify({ name: 'a', cron: '1 * * * *', timezone: 'UTC', ...RUNS, ...WRITES })}`,
      /schedules\.a.*writable/,
    ],
    ['a directory', 'sources:\n  - {name: a, dir: /tmp}', /sources\.a.*dir/],
    ['a variable', 'workspaces:\n  - {name: a, source: infra, vars: {password: hunter2}}', /workspaces\.a.*credential/],
    [
      'a credential in a URL',
      'sources:\n  - {name: a, git: "https://u:hunter2@git.example.org/a.git", ref: main}',
      /sources\.a.*credential/,
    ],
    ['a new webhook', 'webhooks:\n  - {name: a, source: generic}', /webhooks\.a.*URL/],
  ];
  for (const [what, text, message] of REFUSED)
    test(`${what}: 403, and no request is made`, async (t) => {
      const program = await startProgram(t);
      await callLocally(program, 'source.add', { name: 'infra', git: 'ssh://git@git.example.org/x.git', ref: 'main' });
      for (const path of ['/config/apply', '/config/diff']) {
        const answer = await send(program, path, { text: `${text}\n` });
        assert.equal(answer.status, 403, answer.text);
        assert.match(answer.text, message);
        assert.ok(!answer.text.includes('hunter2'));
      }
      assert.deepEqual(await program.store.db.selectFrom('jobs').select('id').execute(), []);
    });

  test('what it leaves as it is may have any of these', async (t) => {
    const { program, run } = await start(t);
    const action = { ...RUNS, privileged: true };
    const rule = JSON.stringify({ name: 'b', when: 'true', action });
    const before = `sources:\n  - {name: a, dir: /tmp}\nrules:\n  - ${rule}\n`;
    await apply(program, before);
    const asked = await ask(program, `${before}  - {name: c, when: "true", action: {notify: hello}}\n`);
    assert.equal(asked.status, 202, asked.text);
    await decide(program, asked);
    assert.equal(await run(asked), 'succeeded');
    assert.deepEqual(await names(program), ['b', 'c']);
  });

  test('no other scope, no folder, and no limited token', async (t) => {
    const program = await startProgram(t);
    for (const scope of ['readonly', 'approve', 'host'] as const)
      assert.equal((await ask(program, rules('x'), {}, program.tokens[scope])).status, 403, scope);
    assert.equal((await ask(program, rules('x'), { folder: '/srv' })).status, 400);
    const limited = await program.token('operator', { agent: { only: ['rule:rule-0'] } });
    assert.equal((await ask(program, rules('x'), {}, limited)).status, 403);
    assert.equal((await ask(program, 'rules: 7')).status, 400);
  });
});

const SECRETIVE =
  'rules:\n  - {name: a, when: "true", action: {command: ["id", "s3cr"], inventory: localhost, reveal: false}}\n';
const OPEN = SECRETIVE.replace(', reveal: false', '').replace('s3cr', 'open');

test('Words that an author on the machine hides are in no diff and in no order; none are hidden from afar', async (t) => {
  const program = await startProgram(t);
  assert.equal((await ask(program, SECRETIVE)).status, 403);
  await apply(program, `set: own\n${SECRETIVE}`);
  for (const [text, some] of [
    [OPEN, { take: true }],
    ['set: own\n', { prune: true }],
  ] as const) {
    const shown = await send(program, '/config/diff', { text, ...some });
    const seen = await order(program, await ask(program, text, some));
    for (const each of [shown.text, JSON.stringify(seen)]) assert.ok(!each.includes('s3cr'), each);
    assert.match(JSON.stringify(seen.changes), /hidden/);
  }
});

test('A long value is shown whole, and a link does not approve it', async (t) => {
  const fixture = await openDecisionFixture(t);
  const { program } = fixture;
  const asked = await ask(program, OPEN.replace('open', `${'x'.repeat(9_000)}END`));
  assert.match(JSON.stringify((await order(program, asked)).changes), /xEND/);
  const id = asked.data.approval_id;
  const { approve: url } = await fixture.links(id);
  const page = await visit(url, 'GET');
  assert.match(page.text, /approved in the console/);
  assert.doesNotMatch(page.text, />Approve/);
  const proof = /name="seen" value="([^"]+)"/.exec(page.text)?.[1] ?? '';
  for (const body of ['', `seen=${proof}`]) {
    const { status } = await visit(url, 'POST', body);
    assert.ok(status === 403 || status === 409, String(status));
  }
  assert.equal((await fixture.approval(id)).state, 'pending');
});

const inventory = (hosts: string, feed = 'https://u:hunter2@h/') =>
  `inventories:\n  - name: prod\n    text: |\n      web:\n        hosts:\n${hosts}        vars: {feed: "${feed}"}\n`;
const host = (name: string) => `          ${name}: {}\n`;

test('Credentials stay where they are, and none is new', async (t) => {
  const { program, run } = await start(t);
  await apply(program, inventory(host('web1')));
  const more = await ask(program, inventory(host('web1') + host('web2'), '[kept]'));
  assert.equal(more.status, 202, more.text);
  assert.ok(!JSON.stringify(await order(program, more)).includes('hunter2'));
  await decide(program, more);
  assert.equal(await run(more), 'succeeded');
  for (const text of [
    inventory(host('web1'), 'https://u:other@h/'),
    `rules:\n  - ${JSON.stringify({ name: 'a', when: 'true', action: WITH_PASSWORD })}\n`,
  ]) {
    const refused = await ask(program, text);
    assert.equal(refused.status, 403, refused.text);
  }
});

test('What the set of a file takes over is a change that is seen', async (t) => {
  const program = await startProgram(t);
  await apply(program, rules('same'));
  const asked = await ask(program, rules('same').replace('team', 'other'), { take: true });
  assert.equal(asked.status, 202, asked.text);
  assert.deepEqual((await order(program, asked)).changes, [
    { change: 'change', kind: 'rule', name: 'rule-0', fields: [{ field: 'set', from: 'team', to: 'other' }] },
  ]);
});

test('A file that somebody changed in the database is not applied, and not shown', async (t) => {
  const { program, on } = await start(t);
  const [asked, late] = [await ask(program, rules('new')), await ask(program, rules('new'))];
  await decide(program, asked);
  await program.store.write(async (tx) => {
    await tx.db
      .updateTable('config_orders')
      .set({ file: rules('forged', 3) })
      .execute();
  });
  assert.equal((await decide(program, late)).status, 409);
  await on.work.claimOnce();
  await until(() => on.work.running === 0);
  const { state, reason } = await on.row(asked.data.job_id);
  assert.equal(state, 'failed');
  assert.match(reason ?? '', /Integrity/);
  assert.deepEqual(await names(program), []);
});
