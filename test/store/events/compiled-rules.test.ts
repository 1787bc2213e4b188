/** The compiled rules of each database, shared by all callers. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { EventFacts } from '../../../src/domain/events/event.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { CompiledRules } from '../../../src/reaction/rules/compiled-rules.ts';
import { FollowedData } from '../../../src/store/engine/followed-data.ts';
import { listRules, replaceRule, switchRule } from '../../../src/store/rules/rules.ts';
import { insertSilence } from '../../../src/store/rules/silences.ts';
import type { RuleRow } from '../../../src/store/schema/schema.ts';
import type { Store } from '../../../src/store/store.ts';
import { alert } from '../../support/fixtures/reaction.ts';
import { ENGINES, freshStore } from '../engine-fixture.ts';
import { rule, add } from '../../support/fixtures/stored-rule.ts';

function facts(some: Partial<EventFacts> = {}): EventFacts {
  return { ...alert(), netgroup: null, receivedAt: Date.now(), ...some };
}

async function names(compiled: CompiledRules, source = 'generic'): Promise<string[]> {
  return (await compiled.current()).rulesFor(source).rules.map(({ name }) => name);
}

/** Changes a rule as somebody who can write only the database. */
function tamper(store: Store, name: string, changes: Partial<RuleRow>): Promise<unknown> {
  return store.write((tx) =>
    tx.db
      .updateTable('rules')
      .set((eb) => ({ version: eb('version', '+', 1), ...changes }))
      .where('name', '=', name)
      .execute(),
  );
}

/** The next commit of another process is known here. */
function heard(store: Store): Promise<void> {
  return new Promise((resolve) => {
    const stop = store.onForeignCommit(() => {
      stop();
      resolve();
    });
  });
}

for (const engine of ENGINES) {
  describe(`The compiled rules on ${engine.name}`, () => {
    const its = freshStore(engine);

    test('are those of a source, in the order of their names, without disabled ones', async () => {
      const compiled = new CompiledRules(its.store, systemClock);
      assert.deepEqual(await names(compiled), []);
      await add(its.store, 'b-any', { when: 'event.name == "x"' });
      await add(its.store, 'a-grafana', { when: 'event.source == "grafana" && event.name == "x"' });
      await add(its.store, 'c-generic');
      await add(its.store, 'd-off');
      await its.store.write((tx) => switchRule(tx, 'd-off', { enabled: false }));
      compiled.forget();
      assert.deepEqual(await names(compiled), ['b-any', 'c-generic']);
      assert.deepEqual(await names(compiled, 'grafana'), ['a-grafana', 'b-any']);
      assert.deepEqual(await names(compiled, 'check'), ['b-any']);
      assert.equal((await compiled.rule('d-off'))?.enabled, false);
      assert.equal(await compiled.rule('nowhere'), undefined);
    });

    test('are compiled once for each text: after a change only changed rules are compiled again', async () => {
      await add(its.store, 'disk');
      const compiled = new CompiledRules(its.store, systemClock);
      const [first] = (await compiled.current()).rulesFor('generic').rules;
      compiled.forget();
      const [second] = (await compiled.current()).rulesFor('generic').rules;
      assert.equal(first, second);
      await its.store.write((tx) =>
        replaceRule(tx, rule('disk', { when: 'event.name == "DiskFull" && int(event.labels.nope) == 1' })),
      );
      compiled.forget();
      const [third] = (await compiled.current()).rulesFor('generic').rules;
      assert.deepEqual(first?.evaluate(facts()), { value: true });
      assert.deepEqual(third?.evaluate(facts()), {
        error: 'character 29: event.labels.nope cannot be converted to an integer',
      });
      assert.equal(third?.version, 2);
    });

    test('include a change of another process once it is announced', async () => {
      const compiled = new CompiledRules(its.store, systemClock);
      assert.deepEqual(await names(compiled), []);
      const elsewhere = await its.database.open({ daemonId: 'dmn_other' });
      const first = heard(its.store);
      await add(elsewhere, 'disk');
      await first;
      assert.deepEqual(await names(compiled), ['disk']);
      const second = heard(its.store);
      await elsewhere.write((tx) => switchRule(tx, 'disk', { enabled: false }));
      await second;
      assert.deepEqual(await names(compiled), []);
    });

    test('F23: that only an older version took are an error for each event, and hold up no other rule', async () => {
      await add(its.store, 'a-broken', { when: 'event.nmae == "x"' });
      await add(its.store, 'b-unread', { when: '((' });
      await add(its.store, 'c-fine');
      await add(its.store, 'd-unfilled', { action: { kind: 'apply', workspace: '${event.nmae}', timeout: null } });
      const compiled = await new CompiledRules(its.store, systemClock).current();
      const [broken, unread, fine, unfilled] = compiled.rulesFor('generic').rules;
      assert.deepEqual(broken?.evaluate(facts()), {
        error: 'character 6: event has no field "nmae"; perhaps "name" is meant',
      });
      assert.ok('error' in (unread?.evaluate(facts()) ?? {}));
      assert.deepEqual(fine?.evaluate(facts()), { value: true });
      assert.deepEqual(unfilled?.fill(facts()), {
        error: 'apply: character 6: event has no field "nmae"; perhaps "name" is meant',
      });
    });

    test('T80: that somebody wrote and no one can read err where they match, and hold up no other', async () => {
      for (const name of ['a-action', 'b-null', 'c-owners', 'd-other']) await add(its.store, name);
      await add(its.store, 'e-fine');
      const compiled = new CompiledRules(its.store, systemClock);
      const fill = async () =>
        (await compiled.current()).rulesFor('generic').rules.map((each) => each.evaluate(facts()));
      assert.deepEqual(
        await fill(),
        Array.from({ length: 5 }, () => ({ value: true })),
      );
      await tamper(its.store, 'a-action', { action: '{' as RuleRow['action'] });
      await tamper(its.store, 'b-null', { action: 'null' as RuleRow['action'] });
      await tamper(its.store, 'c-owners', { owners: '{' as RuleRow['owners'] });
      await tamper(its.store, 'd-other', { owners: '[1]' as RuleRow['owners'], when_text: 'event.name == "Other"' });
      compiled.forget();
      const [action, nothing, owners, other, fine] = await fill();
      assert.deepEqual(action, { error: 'its action in the database cannot be read' });
      assert.deepEqual(nothing, action);
      assert.deepEqual(owners, { error: 'its owners in the database cannot be read' });
      assert.deepEqual([other, fine], [{ value: false }, { value: true }]);
    });

    test('T80: are never older ones after a read that failed', async () => {
      await add(its.store, 'a-first');
      let isFailing = false;
      const read = async (): Promise<number> => {
        if (isFailing) throw new Error('no read');
        return (await listRules(its.store.db)).length;
      };
      const mark = async (): Promise<string> => String((await listRules(its.store.db)).length);
      const followed = new FollowedData(its.store, systemClock, { tables: ['rules'], mark, read });
      assert.equal(await followed.current(), 1);
      await add(its.store, 'b-second');
      followed.forget();
      isFailing = true;
      await assert.rejects(followed.current(), /no read/);
      await assert.rejects(followed.current(), /no read/);
      isFailing = false;
      assert.equal(await followed.current(), 2);
    });

    test('that this version refuses are an error for events of the sources that they ask for', async () => {
      await add(its.store, 'a-refused', {
        when: 'event.source == "alertmanager" && event.received_at > duration("5m")',
      });
      await add(its.store, 'b-open', { when: 'true' });
      const compiled = await new CompiledRules(its.store, systemClock).current();
      assert.deepEqual(
        compiled.rulesFor('generic').rules.map(({ name }) => name),
        ['b-open'],
      );
      const [refused, open] = compiled.rulesFor('alertmanager').rules;
      assert.ok('error' in (refused?.evaluate(facts({ source: 'alertmanager' })) ?? {}));
      assert.deepEqual(open?.evaluate(facts()), { value: true });
    });

    test('are silent while a silence of the rule, or one for such events, is open', async () => {
      const now = Date.now();
      const silence = (some: object) =>
        its.store.write((tx) =>
          insertSilence(tx, {
            rule: null,
            when_text: null,
            reason: 'r',
            created_by: 'ana',
            created_at: now,
            expires_at: now + 60_000,
            ...some,
          }),
        );
      await silence({ rule: 'disk' });
      await silence({ when_text: 'event.labels.instance == "db1"' });
      await silence({ rule: 'cpu', when_text: 'event.name == "Other"' });
      await silence({ when_text: 'int(event.labels.nope) == 1' });
      await silence({ when_text: 'event.nmae == "x"' });
      await silence({ rule: 'cpu', expires_at: now - 1 });
      const silences = (await new CompiledRules(its.store, systemClock).current()).silences;
      const stopped = (name: string, some: Partial<EventFacts>): number[] =>
        silences.flatMap((each, index) => {
          const answer = each.stops(name, facts(some));
          return 'value' in answer && answer.value ? [index] : [];
        });
      assert.equal(silences.length, 5);
      assert.deepEqual(stopped('disk', { labels: {} }), [0]);
      assert.deepEqual(stopped('cpu', { labels: { instance: 'db1' } }), [1]);
      assert.deepEqual(stopped('cpu', { labels: {}, name: 'Other' }), [2]);
      assert.deepEqual(stopped('cpu', { labels: {} }), []);
    });

    test('act again when the time of the silence is over, without a change in the store', async () => {
      let time = Date.now();
      // The clock that silences go by: on PostgreSQL it is the database's, which no test can move.
      const store = { ...its.store, dialect: { ...its.store.dialect, clock: () => Promise.resolve(time) } };
      await store.write((tx) =>
        insertSilence(tx, {
          rule: 'disk',
          when_text: null,
          reason: 'r',
          created_by: 'ana',
          created_at: time,
          expires_at: time + 1_000,
        }),
      );
      const compiled = new CompiledRules(store, systemClock);
      assert.equal((await compiled.current()).silences.length, 1);
      time += 1_000;
      assert.equal((await compiled.current()).silences.length, 0);
    });

    test('are read once for all concurrent callers', async () => {
      for (let index = 0; index < 20; index += 1) await add(its.store, `rule-${String(index).padStart(2, '0')}`);
      const compiled = new CompiledRules(its.store, systemClock);
      const asked = await Promise.all(
        Array.from({ length: 50 }, async () => (await compiled.current()).rulesFor('generic').rules),
      );
      assert.equal(asked[0]?.length, 20);
      assert.equal(new Set(asked.map((rules) => rules[0])).size, 1);
    });
  });
}
