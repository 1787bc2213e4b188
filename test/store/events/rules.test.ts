/** Rules on each database. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { recordFire } from '../../../src/store/events/events.ts';
import {
  deleteRule,
  getRule,
  insertRule,
  listRules,
  noteFired,
  replaceRule,
  ruleOf,
  rulesMark,
  switchRule,
} from '../../../src/store/rules/rules.ts';
import { refusal } from '../../support/refusal.ts';
import { ENGINES, freshStore } from '../engine-fixture.ts';
import { rule, add } from '../../support/fixtures/stored-rule.ts';

for (const engine of ENGINES) {
  describe(`Rules on ${engine.name}`, () => {
    const its = freshStore(engine);

    test('are listed by name and read as they were added', async () => {
      const given = rule('b-rule', {
        cooldownMs: 60_000,
        approval: 'required',
        approvalTtlMs: 1_000,
        action: { kind: 'notify', message: 'x' },
        owners: ['ana', 'ben'],
      });
      await its.store.write((tx) => insertRule(tx, given));
      await add(its.store, 'a-rule');
      await add(its.store, 'a.rule');
      assert.deepEqual(
        (await listRules(its.store.db)).map(({ name }) => name),
        ['a-rule', 'a.rule', 'b-rule'],
      );
      const { addedBy, ...kept } = given;
      const row = await getRule(its.store.db, 'b-rule');
      assert.deepEqual(ruleOf(row), { ...kept, summary: null, enabled: true });
      assert.equal(row.added_by, addedBy);
      await assert.rejects(getRule(its.store.db, 'c-rule'), refusal('not_found', /^There is no rule c-rule\.$/));
    });

    test('have one name each, also when two are added at once', async () => {
      const settled = await Promise.allSettled(
        ['df', 'du'].map((word) =>
          add(its.store, 'disk', {
            action: { kind: 'command', command: [word], inventory: 'localhost', limit: null, timeout: null },
          }),
        ),
      );
      assert.deepEqual(settled.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected']);
      await assert.rejects(
        add(its.store, 'disk'),
        refusal('duplicate', /^name: a rule with the name disk already exists/),
      );
    });

    test('T80: have another mark after each change, also where somebody puts versions and times back', async () => {
      const { version, updated_at } = await add(its.store, 'disk');
      const before = await rulesMark(its.store.db);
      await its.store.write(async (tx) => {
        await replaceRule(tx, rule('disk', { when: 'event.name == "x"' }));
        await tx.db.updateTable('rules').set({ version, updated_at }).execute();
      });
      assert.notEqual(await rulesMark(its.store.db), before);
    });

    test('get a new version with each change, and none with a fire', async () => {
      const marks = [await rulesMark(its.store.db)];
      const mark = async (): Promise<void> => void marks.push(await rulesMark(its.store.db));
      await add(its.store, 'disk');
      await mark();
      await its.store.write((tx) =>
        replaceRule(tx, rule('disk', { when: 'event.name == "x"', owners: ['ben'], addedBy: 'ben' })),
      );
      await mark();
      await its.store.write((tx) => switchRule(tx, 'disk', { enabled: false }));
      await mark();
      assert.equal(new Set(marks).size, marks.length);
      await its.store.write((tx) => switchRule(tx, 'disk', { enabled: true }));
      const { version, order_tag: tag } = await getRule(its.store.db, 'disk');
      assert.equal(version, 4);
      const before = await rulesMark(its.store.db);
      assert.equal(await its.store.write((tx) => noteFired(tx, { name: 'disk', version, tag })), true);
      assert.equal(await rulesMark(its.store.db), before);
      assert.notEqual((await getRule(its.store.db, 'disk')).last_fired_at, null);
    });

    test('are enabled or disabled as requested; a replacement keeps the state, or is disabled', async () => {
      const enabled = async (name: string): Promise<number> => (await getRule(its.store.db, name)).enabled;
      await add(its.store, 'disk');
      await add(its.store, 'held', { disabled: true });
      assert.deepEqual([await enabled('disk'), await enabled('held')], [1, 0]);
      for (const name of ['disk', 'held']) await its.store.write((tx) => replaceRule(tx, rule(name)));
      assert.deepEqual([await enabled('disk'), await enabled('held')], [1, 0]);
      await its.store.write((tx) => replaceRule(tx, rule('disk', { disabled: true })));
      assert.equal(await enabled('disk'), 0);
    });

    test('record no fire of an old version, of a disabled rule, or of a removed rule', async () => {
      const fires = (form: { version: number; order_tag: string | null }): Promise<boolean> =>
        its.store.write((tx) => noteFired(tx, { name: 'disk', version: form.version, tag: form.order_tag }));
      const first = await add(its.store, 'disk');
      assert.equal(await fires({ ...first, version: 2 }), false);
      const disabled = await its.store.write((tx) => switchRule(tx, 'disk', { enabled: false }));
      assert.equal(await fires(disabled), false);
      await its.store.write((tx) => deleteRule(tx, 'disk'));
      assert.equal(await fires(disabled), false);
      const second = await add(its.store, 'disk', { when: 'event.name == "x"' });
      assert.deepEqual([second.version, await fires(first), await fires(second)], [first.version, false, true]);
      // As a build without tags stored it.
      await its.store.write((tx) => tx.db.updateTable('rules').set({ order_tag: null }).execute());
      assert.deepEqual([await fires(second), await fires({ ...second, order_tag: null })], [false, true]);
    });

    test('belong to the user who added them last and to the users who enabled them', async () => {
      await add(its.store, 'disk');
      await its.store.write((tx) => replaceRule(tx, rule('disk', { owners: ['ben'], addedBy: 'ben' })));
      await its.store.write((tx) => switchRule(tx, 'disk', { enabled: true, owner: 'cleo' }));
      await its.store.write((tx) => switchRule(tx, 'disk', { enabled: false }));
      const row = await getRule(its.store.db, 'disk');
      assert.deepEqual(ruleOf(row).owners, ['ben', 'cleo']);
      assert.equal(row.added_by, 'ben');
      assert.equal(await its.store.write((tx) => replaceRule(tx, rule('other'))), undefined);
      await assert.rejects(
        its.store.write((tx) => switchRule(tx, 'other', { enabled: true })),
        refusal('not_found'),
      );
    });

    test('keep their fires when they are replaced, and lose them when they are removed', async () => {
      await add(its.store, 'disk');
      await its.store.write((tx) => {
        recordFire(tx, { rule: 'disk', fingerprint: 'f', status: 'firing', firedAt: 1, jobId: null });
        return Promise.resolve();
      });
      const fires = async (): Promise<number> =>
        (await its.store.db.selectFrom('rule_fires').selectAll().execute()).length;
      await its.store.write((tx) => replaceRule(tx, rule('disk')));
      assert.equal(await fires(), 1);
      await its.store.write((tx) => deleteRule(tx, 'disk'));
      assert.equal(await fires(), 0);
      await assert.rejects(
        its.store.write((tx) => deleteRule(tx, 'disk')),
        refusal('not_found'),
      );
    });
  });
}
