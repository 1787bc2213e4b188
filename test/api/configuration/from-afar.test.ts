/** A configuration file over the API: what is applied at once, what another person decides, and what is refused. */
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { configKind } from '../../../src/domain/config-order/kind.ts';
import { prepareOrdered } from '../../../src/operations/configuration/ordered.ts';
import { loadOperation, loadSections } from '../../../src/operations/areas.ts';
import { readConfigOrder } from '../../../src/store/configuration/orders.ts';
import type { Projected } from '../../../src/views/views.ts';
import { apply, changesOf, diff } from '../../support/configuration/config-files.ts';
import { callLocally } from '../../support/fixtures/workspaces.ts';
import { type Program, type ProgramOptions, startProgram } from '../../support/program.ts';
import { refusal } from '../../support/refusal.ts';
import { scene, type Scene, until } from '../../support/store/work-scene.ts';

const CHECKS = `set: team
netgroups:
  - {name: dc, prefixes: [10.0.0.0/8]}
checks:
  - {name: web, kind: tcp, interval: 1m, targets: ["a=127.0.0.1:80"]}
`;
const rules = (word: string, count = 1) =>
  `set: team\nrules:\n${Array.from(
    { length: count },
    (_, i) => `  - {name: rule-${i}, when: event.name == "${word}", action: {command: ["df"], inventory: localhost}}\n`,
  ).join('')}`;

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly kind: string;
  readonly data: { readonly approval_id: string; readonly job_id: string };
}

async function send(program: Program, path: string, body: object, token = program.tokens.operator): Promise<Answer> {
  const response = await fetch(`${program.url}/api/v1${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, text, ...(JSON.parse(text) as Pick<Answer, 'kind' | 'data'>) };
}

const ask = (program: Program, text: string, some: object = {}, token?: string): Promise<Answer> =>
  send(program, '/config/apply', { text, ...some }, token);

/** As another person than who asked. */
const decide = (program: Program, { data: { approval_id: id } }: Answer, decision = 'approve'): Promise<Answer> =>
  send(program, `/approvals/${id}/decision`, { decision }, program.tokens.approve);

async function order(program: Program, { data: { job_id: id } }: Answer): Promise<Projected<'order'>> {
  const headers = { authorization: `Bearer ${program.tokens.approve}` };
  const response = await fetch(`${program.url}/api/v1/jobs/${id}/order`, { headers });
  return ((await response.json()) as { data: Projected<'order'> }).data;
}

interface At {
  readonly program: Program;
  readonly on: Scene;
  /** Runs the job to its end, and answers how it ended. */
  readonly run: (asked: Answer) => Promise<string>;
}

async function start(t: TestContext, options: ProgramOptions = {}): Promise<At> {
  const program = await startProgram(t, options);
  const on = await scene(t, { store: program.store, services: program.services });
  const run = async ({ data: { job_id: id } }: Answer): Promise<string> => {
    await on.work.claimOnce();
    await until(() => on.work.running === 0);
    const { state, reason } = await on.row(id);
    return reason === null ? state : `${state}: ${reason}`;
  };
  return { program, on, run };
}

async function names({ store }: Program): Promise<string[]> {
  const rows = await store.db.selectFrom('rules').select('name').orderBy('name').execute();
  return rows.map(({ name }) => name);
}

for (const postgres of [false, true])
  describe(`A configuration file from afar${postgres ? ' on PostgreSQL' : ''}`, () => {
    test('checks and netgroups are applied at once, in the name of who sent them', async (t) => {
      const { program } = await start(t, { postgres });
      const answer = await ask(program, CHECKS);
      assert.deepEqual([answer.status, answer.kind], [200, 'config.applied'], answer.text);
      assert.deepEqual(changesOf(await diff(program, CHECKS)), []);
      const rows = await program.store.db.selectFrom('ledger').select(['operation', 'owner', 'via']).execute();
      assert.deepEqual(
        rows.filter(({ operation }) => operation === 'check.add'),
        [{ operation: 'check.add', owner: 'operator', via: 'api' }],
      );
    });

    test('anything else is one job: another person sees the changes, says yes, and all of it is applied', async (t) => {
      const { program, run } = await start(t, { postgres });
      await apply(program, rules('old'));
      const asked = await ask(program, `${rules('new', 2)}${CHECKS.slice('set: team\n'.length)}`, { because: 'OPS-7' });
      assert.deepEqual([asked.status, asked.kind], [202, 'approval.pending'], asked.text);
      assert.deepEqual(await names(program), ['rule-0']);
      const seen = await order(program, asked);
      assert.deepEqual([seen.kind, seen.because], ['config', 'OPS-7']);
      const shown = (seen.changes ?? []).map(({ change, kind, name }) => `${change} ${kind} ${name}`);
      assert.deepEqual(shown.toSorted(), ['add check web', 'add netgroup dc', 'add rule rule-1', 'change rule rule-0']);
      assert.deepEqual(seen.changes?.find(({ name }) => name === 'rule-0')?.fields, [
        { field: 'when', from: 'event.name == "old"', to: 'event.name == "new"' },
      ]);
      const added = seen.changes?.find(({ name }) => name === 'rule-1')?.fields ?? [];
      assert.match(added.find(({ field }) => field === 'action')?.to ?? '', /df/);
      // Who asked does not decide, whatever their token.
      const own = await program.token('approve', { owner: 'operator' });
      const { data } = asked;
      const refused = await send(program, `/approvals/${data.approval_id}/decision`, { decision: 'approve' }, own);
      assert.equal(refused.status, 403);
      assert.equal((await decide(program, asked)).status, 200);
      assert.equal(await run(asked), 'succeeded');
      assert.deepEqual(await names(program), ['rule-0', 'rule-1']);
      const rule = program.store.db.selectFrom('rules').select('owners').where('name', '=', 'rule-1');
      assert.deepEqual(JSON.parse((await rule.executeTakeFirstOrThrow()).owners), ['operator']);
    });

    test('a no changes nothing', async (t) => {
      const { program, on } = await start(t, { postgres });
      const asked = await ask(program, rules('new'));
      assert.equal((await decide(program, asked, 'reject')).status, 200);
      await on.work.claimOnce();
      assert.deepEqual(await names(program), []);
    });

    test('of two files about one object the second is refused at the yes, as the object has moved', async (t) => {
      const { program, run } = await start(t, { postgres });
      const [one, two] = [await ask(program, rules('one')), await ask(program, rules('two'))];
      assert.equal((await decide(program, one)).status, 200);
      assert.equal(await run(one), 'succeeded');
      const late = await decide(program, two);
      assert.deepEqual([late.status, /"code":"conflict"/.test(late.text)], [409, true], late.text);
    });

    test('two that were approved before either ran: the second fails and writes nothing', async (t) => {
      const { program, on, run } = await start(t, { postgres });
      const [one, two] = [await ask(program, rules('one')), await ask(program, rules('two', 2))];
      for (const asked of [one, two]) assert.equal((await decide(program, asked)).status, 200);
      assert.equal(await run(one), 'succeeded');
      await on.work.claimOnce();
      await until(() => on.work.running === 0);
      const { state, reason } = await on.row(two.data.job_id);
      assert.equal(state, 'failed');
      assert.match(reason ?? '', /moved since|not as|after/);
      assert.deepEqual(await names(program), ['rule-0']);
    });

    test('a change between the comparison of the run and its transaction fails it as a whole', async (t) => {
      const { program, on } = await start(t, { postgres });
      const asked = await ask(program, rules('new', 2));
      await decide(program, asked);
      const place = { store: program.store, services: program.services };
      const row = await on.row(asked.data.job_id);
      const spec = configKind.readSpec(row.spec);
      const { file } = await readConfigOrder(program.store.db, row.id, spec);
      const write = await prepareOrdered(place, {
        jobId: row.id,
        file,
        spec,
        sections: await loadSections(),
        load: loadOperation,
      });
      await apply(program, rules('other'));
      await assert.rejects(program.store.write(write), refusal('conflict', /was changed while/));
      assert.deepEqual(await names(program), ['rule-0']);
    });

    test('an author who loses the token has still asked: who decides says yes or no', async (t) => {
      const { program, run } = await start(t, { postgres });
      const token = await program.token('operator', { name: 'ci', owner: 'ci', agent: { only: null } });
      const asked = await ask(program, rules('new'), {}, token);
      assert.equal(asked.status, 202, asked.text);
      assert.equal(
        (await send(program, `/approvals/${asked.data.approval_id}/decision`, { decision: 'approve' }, token)).status,
        403,
      );
      await program.revoke(token);
      assert.equal((await decide(program, asked)).status, 200);
      assert.equal(await run(asked), 'succeeded');
      const rows = await program.store.db.selectFrom('ledger').select(['operation', 'owner']).execute();
      assert.ok(rows.some(({ operation, owner }) => operation === 'rule.add' && owner === 'ci'));
    });
  });

const RUNS = { command: ['id'], inventory: 'localhost' };
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

test('The words of an action that its author hides are hidden from who decides too', async (t) => {
  const program = await startProgram(t);
  const hidden =
    'rules:\n  - {name: a, when: "true", action: {command: ["id", "s3cr"], inventory: localhost, reveal: false}}\n';
  const seen = await order(program, await ask(program, hidden));
  assert.ok(!JSON.stringify(seen).includes('s3cr'));
  assert.match(JSON.stringify(seen.changes), /hidden/);
});

test('A file that somebody changed in the database is not applied, and not shown', async (t) => {
  const { program, on } = await start(t);
  const asked = await ask(program, rules('new'));
  await decide(program, asked);
  await program.store.write(async (tx) => {
    await tx.db
      .updateTable('config_orders')
      .set({ file: rules('forged', 3) })
      .execute();
  });
  await on.work.claimOnce();
  await until(() => on.work.running === 0);
  const { state, reason } = await on.row(asked.data.job_id);
  assert.equal(state, 'failed');
  assert.match(reason ?? '', /Integrity/);
  assert.deepEqual(await names(program), []);
});
