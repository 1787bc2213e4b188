/** Variables of inventories that hold credentials: an export has `[kept]` for each, and `[kept]` keeps the value. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { writeYamlInventory } from '../../../src/domain/inventories/formats/write-yaml.ts';
import { getInventoryRow, inventoryOf } from '../../../src/store/inventories/inventories.ts';
import { apply, changesOf, diff, exported } from '../../support/configuration/config-files.ts';
import { type Program, startProgram } from '../../support/program.ts';
import { refusal } from '../../support/refusal.ts';

const FILE = `inventories:
  - name: prod
    text: |
      all:
        hosts:
          web1:
            ansible_port: 2222
            smtp_pass: hunter1
            db: {user: app, password: hunter2, replicas: [{host: db2, api_key: 4711}]}
        vars:
          monitoring_token: hunter3
          author: ana
`;

async function stored(program: Program): Promise<string> {
  return writeYamlInventory(inventoryOf(await getInventoryRow(program.store.db, 'prod')));
}

test('An export has [kept] for each variable named like a credential, and applied again changes nothing', async (t) => {
  const program = await startProgram(t);
  await apply(program, FILE);
  const before = await stored(program);
  assert.match(before, /hunter1[^]*hunter2[^]*4711[^]*hunter3/);
  const written = await exported(program);
  assert.doesNotMatch(written, /hunter|4711/);
  for (const name of ['smtp_pass', 'password', 'api_key', 'monitoring_token'])
    assert.match(written, new RegExp(`\\b${name}: "\\[kept\\]"`));
  assert.match(written, /ansible_port: 2222[^]*author: ana/);
  assert.deepEqual(changesOf(await diff(program, written)), []);
  await apply(program, written);
  assert.equal(await stored(program), before);
});

test('A new value is taken beside kept ones, and a difference shows neither', async (t) => {
  const program = await startProgram(t);
  await apply(program, FILE);
  const before = await stored(program);
  const changed = FILE.replace('hunter1', '"[kept]"').replace('hunter2', '"[kept]"').replace('hunter3', 'hunter4');
  const difference = await diff(program, changed);
  assert.deepEqual(changesOf(difference), ['change inventory prod']);
  assert.doesNotMatch(JSON.stringify(difference), /hunter|4711/);
  await apply(program, changed);
  assert.equal(await stored(program), before.replace('hunter3', 'hunter4'));
});

test('[kept] where nothing is stored is refused with the variable and its host or group', async (t) => {
  const program = await startProgram(t);
  const kept = FILE.replace('hunter2', '"[kept]"');
  await assert.rejects(
    diff(program, kept),
    refusal('invalid_argument', /prod\.text .*: password of host web1: \[kept\] keeps/),
  );
  await apply(program, FILE);
  const moved = FILE.replace('web1:', 'web2:').replace('hunter1', '"[kept]"');
  await assert.rejects(apply(program, moved), refusal('invalid_argument', /smtp_pass of host web2/));
  assert.match(await stored(program), /hunter1/);
});

/** The file with a list of users in place of its author. */
const users = (...items: readonly string[]): string => FILE.replace('author: ana', `users: [${items.join(', ')}]`);
const kept = (item: string): string => item.replace(/password: \w+/, 'password: "[kept]"');

test('[kept] in a list keeps the value of the item whose other fields are the same, and guesses none', async (t) => {
  const program = await startProgram(t);
  const [a, b] = ['{name: a, password: one}', '{name: b, password: two}'];
  await apply(program, users(a, b));
  await apply(program, users(kept(b)));
  assert.match(await stored(program), /name: b, password: two/);
  assert.doesNotMatch(await stored(program), /password: one/);
  await assert.rejects(diff(program, users(kept(a))), refusal('invalid_argument', /password of group all/));

  // Two items that differ in their credentials alone are distinguished by their places only.
  await apply(program, users('{password: one}', '{password: two}'));
  const before = await stored(program);
  await apply(program, users('{password: "[kept]"}', '{password: "[kept]"}'));
  assert.equal(await stored(program), before);
  await assert.rejects(
    diff(program, users('{password: "[kept]"}')),
    refusal('invalid_argument', /password of group all/),
  );
});
