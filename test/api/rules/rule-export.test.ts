/** `svc rule export` and `svc job command`: what was stored, on the machine itself. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isNone } from '../../../src/operations/core/http-face.ts';
import type { PlaybookSpec } from '../../../src/domain/playbooks/playbook.ts';
import { toJson } from '../../../src/lib/json.ts';
import { OPERATIONS } from '../../../src/operations/table.ts';
import { add, call, heard, rule, WHEN } from '../../support/fixtures/rules.ts';
import { type Program, startProgram } from '../../support/program.ts';
import { refusal } from '../../support/refusal.ts';

const FULL = `name: x
when: |
  event.source == "generic" &&
    event.labels.instance == "db1"
cooldown: 1h30m
approval: required
approval_ttl: 30m
one_tap: true
summary: "clean: the cache"
`;

/** One file for each kind of action at least. */
const FILES = {
  command: rule(
    'command: ["true", "--x=${event.labels.instance}", yes, 1.10, "a\\nb\\u202e", "$${X}"], inventory: localhost',
  ),
  'command with everything':
    `${FULL}action: {command: ["df", "\${path(event.labels.m)}"], inventory: localhost, limit: "\${event.labels.h}", ` +
    'timeout: "${event.labels.t}"}\n',
  plan: rule('plan: "${event.labels.w}"'),
  apply: rule('apply: "${event.labels.w}", timeout: 5m'),
  destroy: rule('destroy: "${event.labels.w}"'),
  notify: rule('notify: true'),
  'notify with a text': rule('notify: "true: ${event.name}"'),
};

async function exported(program: Program, name = 'x'): Promise<string> {
  return (await call<{ text: string }>(program, 'rule.export', { name })).text;
}

async function stored(program: Program) {
  const { when_text, action, cooldown_ms, approval, approval_ttl_ms, one_tap, summary } = await program.store.db
    .selectFrom('rules')
    .selectAll()
    .executeTakeFirstOrThrow();
  return { when_text, action, cooldown_ms, approval, approval_ttl_ms, one_tap, summary };
}

describe('A rule that is exported', () => {
  for (const [kind, file] of Object.entries(FILES)) {
    test(`is the same rule when it is added again: ${kind}`, async (t) => {
      const program = await startProgram(t);
      await add(program, file);
      const [row, text] = [await stored(program), await exported(program)];
      await add(program, text, { replace: true });
      assert.deepEqual(await stored(program), row);
      assert.equal(await exported(program), text);
    });
  }

  test('is written as people write it', async (t) => {
    const program = await startProgram(t);
    await add(program, FILES['command with everything']);
    const action =
      'action:\n  command:\n    - df\n    - ${path(event.labels.m)}\n  inventory: localhost\n' +
      '  limit: ${event.labels.h}\n  timeout: ${event.labels.t}\n';
    assert.equal(await exported(program), FULL + action);
  });

  test('shows no credential of a URL, and keeps it when it is added again', async (t) => {
    const program = await startProgram(t);
    const file = rule('command: ["get", "https://joe:pa55@host/?token=t0p"], inventory: localhost');
    await add(program, file);
    const [row, text] = [await stored(program), await exported(program)];
    assert.match(text, /- https:\/\/\[kept\]@host\/\?token=\[kept\]\n/);
    await add(program, text.replace('- get', '- fetch'), { replace: true });
    assert.equal((await stored(program)).action, row.action.replace('"get"', '"fetch"'));
    const refused = refusal('invalid_argument', /^action: \[kept\] keeps the stored credential of a URL/);
    await assert.rejects(add(program, text.replace('@host', '@evil'), { replace: true }), refused);
    await assert.rejects(add(program, text.replace('name: x', 'name: y')), refused);
    await assert.rejects(add(program, text.replace('name: x', 'name: y'), { replace: true }), refused);
  });

  test('of an earlier build is checked like a new one, also in its kept parts', async (t) => {
    const program = await startProgram(t);
    await add(program, rule('command: ["get", "https://host/"], inventory: localhost'));
    const action = {
      kind: 'command' as const,
      command: ['get', 'https://${event.labels.u}@host/'],
      inventory: 'localhost',
      limit: null,
      timeout: null,
    };
    await program.store.write((tx) =>
      tx.db
        .updateTable('rules')
        .set({ action: toJson(action), bounded_values: null })
        .execute(),
    );
    await assert.rejects(
      add(program, await exported(program), { replace: true }),
      refusal('invalid_argument', /^action\.command: word 2: \$\{…\} must be a whole word/),
    );
  });

  test('has to exist', async (t) => {
    const program = await startProgram(t);
    await assert.rejects(exported(program, 'nosuch'), refusal('not_found', /^There is no rule nosuch\.$/));
  });
});

test('the command of a job is shown word by word, without credentials of URLs', async (t) => {
  const program = await startProgram(t);
  await add(program, `name: x\n${WHEN}action: {command: ["echo", "it's", "https://a:b@h/"], inventory: localhost}\n`);
  await heard(program);
  const job = await program.store.db.selectFrom('jobs').select('id').executeTakeFirstOrThrow();
  assert.deepEqual(await call(program, 'job.command', { id: job.id }), {
    job_id: job.id,
    command: ['echo', "it's", 'https://[kept]@h/'],
  });
  await program.store.write((tx) => tx.db.updateTable('jobs').set({ kind: 'plan' }).where('id', '=', job.id).execute());
  await assert.rejects(
    call(program, 'job.command', { id: job.id }),
    refusal('conflict', /^Job \S+ is of kind plan; only commands and playbooks have words\.$/),
  );
});

test('the command of a playbook job is that of Ansible, with the directories that it may write', async (t) => {
  const program = await startProgram(t);
  await add(program, `name: x\n${WHEN}action: {command: [echo], inventory: localhost}\n`);
  await heard(program);
  const job = await program.store.db.selectFrom('jobs').select('id').executeTakeFirstOrThrow();
  const spec: PlaybookSpec = {
    playbook: 'site.yml',
    source: 'ops',
    dir: null,
    inventory: 'prod',
    limit: 'web,!web9',
    tags: ['a', 'b'],
    skipTags: [],
    check: true,
    diff: false,
    extraVars: { from: 'https://a:b@h/x', n: 1 },
    tolerateUnreachable: false,
    egressPorts: [],
    writable: ['/srv/cache'],
    runSecrets: {},
    vaultProject: null,
  };
  await program.store.write((tx) =>
    tx.db
      .updateTable('jobs')
      .set({ kind: 'playbook', spec: JSON.stringify(spec) })
      .where('id', '=', job.id)
      .execute(),
  );
  const options = ['--inventory=prod', '--limit=web,!web9', '--tags=a,b', '--check'];
  assert.deepEqual(await call(program, 'job.command', { id: job.id }), {
    job_id: job.id,
    command: ['ansible-playbook', ...options, '--extra-vars={"from":"https://[kept]@h/x","n":1}', 'site.yml'],
    writable: ['/srv/cache'],
  });
});

test('both are on the machine itself only', () => {
  const rows = OPERATIONS.filter(({ id }) => id === 'rule.export' || id === 'job.command');
  assert.deepEqual(
    rows.map(({ http, mcp }) => [isNone(http), isNone(mcp)]),
    [
      [true, true],
      [true, true],
    ],
  );
});
