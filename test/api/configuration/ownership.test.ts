/** Sets: what a configuration file manages, and who changed it since. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { deleteInventory } from '../../../src/store/inventories/inventories.ts';
import { deleteNetgroup } from '../../../src/store/netgroups/netgroups.ts';
import { deleteSource } from '../../../src/store/sources/sources.ts';
import { apply, changesOf, diff, exported } from '../../support/configuration/config-files.ts';
import { callLocally } from '../../support/fixtures/workspaces.ts';
import { startProgram } from '../../support/program.ts';
import { refusal } from '../../support/refusal.ts';

const group = (name: string, prefix = '10.0.0.0/8'): string => `  - {name: ${name}, prefixes: [${prefix}]}\n`;
const file = (set: string | null, ...groups: readonly string[]): string =>
  `${set === null ? '' : `set: ${set}\n`}netgroups:\n${groups.join('')}`;

describe('A set', () => {
  test('point 39: owns what its file names; only --prune removes what the file names no more', async (t) => {
    const program = await startProgram(t);
    await callLocally(program, 'netgroup.add', { name: 'by-hand', prefixes: '192.0.2.0/24' });
    await apply(program, file('ops', group('a'), group('b')));
    const fewer = file('ops', group('a'));
    const { changes, left } = await diff(program, fewer);
    assert.deepEqual([changes, left], [[], [{ kind: 'netgroup', name: 'b' }]]);
    await apply(program, fewer);
    assert.match(await exported(program), /name: b$/m);
    assert.deepEqual(changesOf(await diff(program, fewer, { prune: true })), ['remove netgroup b']);
    assert.deepEqual(changesOf(await apply(program, fewer, { prune: true })), ['remove netgroup b']);
    const names = (await exported(program)).match(/name: .*/g);
    assert.deepEqual(names, ['name: a', 'name: by-hand']);
    assert.deepEqual((await exported(program, 'ops')).match(/name: .*/g), ['name: a']);
  });

  test('owns an object that was there before its file named it', async (t) => {
    const program = await startProgram(t);
    await callLocally(program, 'netgroup.add', { name: 'a', prefixes: '10.0.0.0/8' });
    assert.deepEqual((await apply(program, file('ops', group('a')))).changes, []);
    assert.deepEqual(changesOf(await apply(program, 'set: ops\n', { prune: true })), ['remove netgroup a']);
  });

  test('does not own an object that was removed and added again by hand', async (t) => {
    const program = await startProgram(t);
    const others = 'inventories:\n  - {name: a, text: "web1\\n"}\nsources:\n  - {name: a, dir: /srv}\n';
    const text = `${file('ops', group('a'))}${others}`;
    await apply(program, text);
    await program.store.write(async (tx) => {
      for (const remove of [deleteNetgroup, deleteInventory, deleteSource]) await remove(tx, 'a');
    });
    await callLocally(program, 'netgroup.add', { name: 'a', prefixes: '10.0.0.0/8' });
    await callLocally(program, 'inventory.add', { name: 'a', text: 'web1\n' });
    await callLocally(program, 'source.add', { name: 'a', dir: '/srv' });
    assert.deepEqual(changesOf(await apply(program, 'set: ops\n', { prune: true })), []);
  });

  test('keeps other files from its objects, unless they take them', async (t) => {
    const program = await startProgram(t);
    await apply(program, file('ops', group('a')));
    const other = file('web', group('a', '10.0.0.0/9'));
    for (const verb of [diff, apply])
      await assert.rejects(
        verb(program, other),
        refusal('conflict', /^netgroups\.a \(line 3, column 5\): the set ops manages this netgroup; use --take/),
      );
    // A file without a set manages nothing: it may repeat what another one says, but not change it.
    assert.deepEqual((await apply(program, file(null, group('a')))).changes, []);
    await assert.rejects(apply(program, file(null, group('a', '10.0.0.0/9'))), refusal('conflict'));
    const took = await apply(program, other, { take: true });
    assert.deepEqual(changesOf(took), ['change netgroup a']);
    assert.deepEqual(took.taken, [{ kind: 'netgroup', name: 'a', from: 'ops' }]);
    assert.deepEqual((await exported(program, 'web')).match(/name: .*/g), ['name: a']);
    assert.deepEqual(changesOf(await apply(program, 'set: ops\n', { prune: true })), []);
  });

  test('is needed to prune', async (t) => {
    const program = await startProgram(t);
    await assert.rejects(
      apply(program, file(null, group('a')), { prune: true }),
      refusal('invalid_argument', /^prune: the file has no set/),
    );
  });
});

describe('A managed object', () => {
  test('point 39: that was changed by hand shows who changed it, and one that the file changed does not', async (t) => {
    const program = await startProgram(t);
    const text = file('ops', group('a'), group('b'));
    await apply(program, text);
    await callLocally(program, 'netgroup.set', { name: 'a', prefixes: '192.0.2.0/24' });
    const changed = text.replace('name: b, prefixes: [10.0.0.0/8]', 'name: b, prefixes: [10.1.0.0/16]');
    const [a, b] = (await diff(program, changed)).changes;
    assert.deepEqual(
      { name: a?.name, fields: a?.fields, by: { ...a?.by_hand, at: '' } },
      {
        name: 'a',
        fields: [{ field: 'prefixes', from: '["192.0.2.0/24"]', to: '["10.0.0.0/8"]' }],
        by: { principal: 'local:tester', operation: 'netgroup.set', at: '' },
      },
    );
    assert.deepEqual([b?.name, b?.by_hand], ['b', null]);
    await apply(program, changed);
    assert.deepEqual((await diff(program, changed)).changes, []);
  });
});
