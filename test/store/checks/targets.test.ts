import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Target } from '../../../src/domain/checks/target.ts';
import { deleteCheck, insertCheck, listChecks } from '../../../src/store/checks/checks.ts';
import {
  countTargets,
  insertTargets,
  listTargets,
  openTarget,
  replaceTargets,
  sealTarget,
  snoozeTargets,
} from '../../../src/store/checks/targets.ts';
import { countSealed, holdsSealed } from '../../../src/store/secrets/seal.ts';
import { resealAll } from '../../../src/store/secrets/reseal.ts';
import { nextTurn } from '../../../src/lib/flow/cooperative.ts';
import type { Tx } from '../../../src/store/engine/tx.ts';
import type { Store } from '../../../src/store/store.ts';
import { createKeyring } from '../../../src/lib/seal.ts';
import { toJson } from '../../../src/lib/json.ts';
import { refusal } from '../../support/refusal.ts';
import { ENGINES, freshStore } from '../engine-fixture.ts';

const RING = createKeyring([{ key: Buffer.alloc(32, 1), createdAt: null }]);
const NEXT = createKeyring([
  { key: Buffer.alloc(32, 1), createdAt: null },
  { key: Buffer.alloc(32, 2), createdAt: null },
]);

const plain = (name: string, spec = '10.0.0.5:1'): Target => ({ name, spec, credentials: null });
const stored = (targets: readonly Target[]) => targets.map((target, at) => sealTarget(RING, 'web', at, target));
const names = (count: number, from = 0): string[] =>
  Array.from({ length: count }, (_, at) => `t${String(from + at).padStart(5, '0')}`);

function insert(store: Store, targets: readonly Target[]): Promise<void> {
  return store.write(async (tx) => {
    await insertCheck(tx, { name: 'web', kind: 'tcp', interval_ms: 1_000, options: toJson({}) });
    await insertTargets(tx, stored(targets));
  });
}

const namesIn = async ({ db }: Store): Promise<string[]> => (await listTargets(db, ['web'])).map(({ name }) => name);
const replace = (store: Store, targets: readonly Target[]) =>
  store.write((tx) => replaceTargets(tx, 'web', stored(targets)));

const many = (spec: string): Target[] => names(10_000).map((name) => plain(name, spec));
const rowsOf = ({ db }: Store): Promise<object[]> =>
  db.selectFrom('check_targets').select(['name', 'spec']).orderBy('name').execute();

async function failsAtTheEnd(store: Store, work: (tx: Tx) => Promise<unknown>): Promise<void> {
  const write = store.write(async (tx) => {
    await work(tx);
    throw new Error('at the end');
  });
  await assert.rejects(write, /at the end/);
}

for (const engine of ENGINES) {
  describe(`Targets of checks on ${engine.name}`, () => {
    const its = freshStore(engine);

    test('10,000 targets are written, replaced and removed, in their order', async () => {
      const first = names(10_000).toReversed();
      await insert(
        its.store,
        first.map((name) => plain(name)),
      );
      assert.deepEqual(await namesIn(its.store), first);
      assert.deepEqual(await countTargets(its.store.db, ['web', 'none']), new Map([['web', 10_000]]));
      const second = [...names(6_000, 5_000), ...names(4_000, 1_000)];
      const counts = await replace(
        its.store,
        second.map((name) => plain(name)),
      );
      assert.deepEqual(counts, { added: 1_000, removed: 1_000 });
      assert.deepEqual(await namesIn(its.store), second);
      await its.store.write((tx) => deleteCheck(tx, 'web'));
      assert.deepEqual(await listChecks(its.store.db, 10), []);
      assert.deepEqual(await namesIn(its.store), []);
    });

    test('T88: 10,000 targets are written whole or not at all, and others have their turn', async () => {
      const counted = async (): Promise<string> => {
        const query = its.store.db.selectFrom('check_targets').groupBy('spec').orderBy('spec');
        const found = await query.select((eb) => ['spec' as const, eb.fn.countAll<number>().as('count')]).execute();
        return found.map(({ spec, count }) => `${count} of ${spec}`).join(', ');
      };
      const kinds = new Set<string>();
      const watched = async (write: () => Promise<unknown>): Promise<void> => {
        const over = new AbortController();
        const done = write().finally(() => over.abort());
        let turns = 0;
        for (; !over.signal.aborted; turns += 1) {
          kinds.add(await counted());
          await nextTurn();
        }
        await done;
        assert.ok(turns >= 4, `others had ${turns} turns`);
      };
      await watched(() => insert(its.store, many('10.0.0.5:1')));
      await watched(() => replace(its.store, many('10.0.0.5:2')));
      const before = await rowsOf(its.store);
      await failsAtTheEnd(its.store, (tx) => replaceTargets(tx, 'web', stored(many('10.0.0.5:3').slice(5_000))));
      await failsAtTheEnd(its.store, (tx) => deleteCheck(tx, 'web'));
      assert.deepEqual(await rowsOf(its.store), before);
      await watched(() => its.store.write((tx) => deleteCheck(tx, 'web')));
      assert.deepEqual([...kinds].toSorted(), ['', '10000 of 10.0.0.5:1', '10000 of 10.0.0.5:2']);
    });

    test('A snooze covers one target or all of a check, until it is ended', async () => {
      await insert(its.store, [plain('a'), plain('b')]);
      const snooze = (target: string | null, until: number | null) =>
        its.store.write((tx) => snoozeTargets(tx, 'web', target, until));
      const snoozes = async () => (await listTargets(its.store.db, ['web'])).map(({ snoozed_until: until }) => until);
      assert.equal(await snooze('b', 5), 1);
      assert.deepEqual(await snoozes(), [null, 5]);
      assert.equal(await snooze(null, 7), 2);
      assert.deepEqual(await snoozes(), [7, 7]);
      assert.equal(await snooze('none', 9), 0);
      await snooze(null, null);
      assert.deepEqual(await snoozes(), [null, null]);
    });

    test('Credentials are sealed, for one target and its specification, and move to a new key', async () => {
      const secret = { name: 'a', spec: 'https://h/', credentials: 'u:geheim' };
      await insert(its.store, [plain('b')]);
      assert.equal(await holdsSealed(its.store.db), false);
      await replace(its.store, [secret, plain('b')]);
      assert.equal(await holdsSealed(its.store.db), true);
      const read = () => its.store.db.selectFrom('check_targets').selectAll().orderBy('name').execute();
      const [row, other] = await read();
      assert.ok(row !== undefined && other !== undefined);
      assert.ok(!Buffer.from(row.credentials ?? []).includes('geheim'));
      assert.equal(openTarget(RING, row), 'https://u:geheim@h/');
      assert.equal(openTarget(RING, other), '10.0.0.5:1');
      for (const change of [{ spec: 'https://evil/' }, { name: 'b' }, { check_name: 'x' }])
        assert.throws(() => openTarget(RING, { ...row, ...change }), refusal('conflict', /cannot be probed/));
      const { total, old } = await countSealed(its.store.db, NEXT);
      assert.deepEqual([total, old], [1, 1]);
      const by = { principal: 'local:tester', owner: 'local:tester', via: 'cli' };
      assert.deepEqual(await resealAll(its.store, NEXT, by), { count: 1, broken: [] });
      const [moved] = await read();
      assert.equal(moved?.key_id, NEXT.activeId);
      assert.equal(openTarget(NEXT, moved), 'https://u:geheim@h/');
    });
  });
}
