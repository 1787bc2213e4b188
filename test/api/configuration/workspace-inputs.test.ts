/** The inputs of workspaces in a configuration file: values are never in it, and `[kept]` keeps them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readInputs, type WorkspaceInputs } from '../../../src/domain/workspaces/inputs.ts';
import { getWorkspace } from '../../../src/store/workspaces/workspaces.ts';
import { apply, changesOf, diff, exported } from '../../support/configuration/config-files.ts';
import { callLocally } from '../../support/fixtures/workspaces.ts';
import { type Program, startProgram } from '../../support/program.ts';
import { refusal } from '../../support/refusal.ts';

const FILE = `workspaces:
  - name: net
    dir: /srv/net
    vars: {zone: fsn1, pass: hunter2, count: 3, public: false}
    run_secrets: {token: net/token}
`;

async function inputsOf(program: Program): Promise<WorkspaceInputs> {
  return readInputs((await getWorkspace(program.store.db, 'net')).inputs);
}

async function withSecret(t: Parameters<typeof startProgram>[0]): Promise<Program> {
  const program = await startProgram(t);
  await callLocally(program, 'secret.set', { secret: 'net/token', value: 'hunter3' });
  return program;
}

test('Variables and secrets of a workspace are applied; its export has names only and does not differ', async (t) => {
  const program = await withSecret(t);
  await apply(program, FILE);
  assert.deepEqual(await inputsOf(program), {
    vars: { zone: 'fsn1', pass: 'hunter2', count: '3', public: 'false' },
    varFiles: [],
    runSecrets: { token: 'net/token' },
  });
  assert.deepEqual(changesOf(await diff(program, FILE)), []);
  const written = await exported(program);
  assert.doesNotMatch(written, /hunter|fsn1/);
  assert.match(written, /zone: "?\[kept\]"?/);
  assert.match(written, /token: net\/token/);
  assert.deepEqual(changesOf(await diff(program, written)), []);
});

test('A value in the file is taken, [kept] keeps the stored one, and a difference shows no value', async (t) => {
  const program = await withSecret(t);
  await apply(program, FILE);
  const changed = FILE.replace('zone: fsn1, pass: hunter2', 'zone: nbg1, pass: "[kept]"');
  const difference = await diff(program, changed);
  assert.deepEqual(changesOf(difference), ['change workspace net']);
  assert.deepEqual(
    difference.changes[0]?.fields.map(({ field }) => field),
    ['vars'],
  );
  assert.doesNotMatch(JSON.stringify(difference), /hunter|fsn1|nbg1/);
  await apply(program, changed);
  const { vars } = await inputsOf(program);
  assert.deepEqual([vars['zone'], vars['pass']], ['nbg1', 'hunter2']);
});

test('What a file leaves out is forgotten, each list by itself', async (t) => {
  const program = await withSecret(t);
  await apply(program, FILE);
  await apply(program, FILE.replace(/ {4}vars: .*\n/, ''));
  assert.deepEqual(await inputsOf(program), { vars: {}, varFiles: [], runSecrets: { token: 'net/token' } });
  await apply(program, FILE.replace(/ {4}run_secrets: .*\n/, ''));
  const { vars, runSecrets } = await inputsOf(program);
  assert.deepEqual([vars['pass'], runSecrets], ['hunter2', {}]);
});

test('[kept] without a stored value, an unknown secret and a bad variable are refused with their place', async (t) => {
  const program = await startProgram(t);
  for (const [text, message] of [
    [
      FILE.replace('hunter2', '"[kept]"'),
      /^workspaces\.net\.vars\.pass \(line 4, column 30\): \[kept\] keeps the stored value/,
    ],
    [FILE, /^workspaces\.net \(line 2, column 5\): There is no secret net\/token/],
    [FILE.replace('zone:', '"a b":'), /^workspaces\.net \(line 2, column 5\): vars\.a b: expected a name/],
    [FILE.replace('zone: fsn1', 'zone: [a]'), /^workspaces\.net\.vars\.zone \(line 4, column 18\): expected a text/],
    [
      FILE.replace('net/token', 'token'),
      /^workspaces\.net\.run_secrets\.token \(line 5, column 26\): expected project/,
    ],
  ] as const)
    await assert.rejects(
      apply(program, text),
      refusal(/secret net/.test(message.source) ? 'not_found' : 'invalid_argument', message),
    );
  assert.deepEqual(await program.store.db.selectFrom('workspaces').selectAll().execute(), []);
});
