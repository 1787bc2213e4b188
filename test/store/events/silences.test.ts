/** Silences on each database, and what happens when their time is over. */
import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import type { NormalEvent } from '../../../src/domain/events/event.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { CompiledRules } from '../../../src/reaction/rules/compiled-rules.ts';
import { endSilences } from '../../../src/reaction/silence-endings.ts';
import { receive } from '../../../src/reaction/receive.ts';
import type { EventRow, SilenceRow } from '../../../src/store/schema/schema.ts';
import {
  cutSilence,
  cutSilencesOf,
  dueSilences,
  insertSilence,
  listSilences,
  type NewSilence,
  noteSilenceEnd,
  silencedRules,
  silencesMark,
} from '../../../src/store/rules/silences.ts';
import type { Store } from '../../../src/store/store.ts';
import { addRule, alert, reactionOf, WEBHOOK } from '../../support/fixtures/reaction.ts';
import { refusal } from '../../support/refusal.ts';
import { ENGINES, freshStore, wipe } from '../engine-fixture.ts';

const UNKNOWN = 'sil_00000000000000000000000000';

function put(store: Store, some: Partial<NewSilence> = {}): Promise<SilenceRow> {
  const now = Date.now();
  return store.write((tx) =>
    insertSilence(tx, {
      rule: 'disk',
      when_text: null,
      reason: 'new disks',
      created_by: 'ana',
      created_at: now - 1_000,
      expires_at: now + 600_000,
      ...some,
    }),
  );
}

function ids(rows: readonly SilenceRow[]): string[] {
  return rows.map(({ id }) => id);
}

for (const engine of ENGINES) {
  describe(`Silences on ${engine.name}`, () => {
    const its = freshStore(engine);
    let store: Store;
    let deps: ReturnType<typeof reactionOf>;
    beforeEach(() => {
      store = its.store;
      deps = reactionOf(store);
    });

    const tell = (some: Partial<NormalEvent> = {}) => receive(deps, [alert(some)], WEBHOOK);
    const announced = (): Promise<EventRow[]> =>
      store.db.selectFrom('events').selectAll().where('source', '=', 'silence').orderBy('id').execute();
    const ended = async (): Promise<number> =>
      (await store.db.selectFrom('silences').select('id').where('ended_at', 'is not', null).execute()).length;
    /** A silence that stopped something, and is over now. */
    const stoppedAndOver = async (
      some: Partial<NewSilence> = {},
      event: Partial<NormalEvent> = {},
    ): Promise<SilenceRow> => {
      await addRule(deps, 'disk');
      const silence = await put(store, some);
      deps.rules.forget();
      const [outcome] = await tell(event);
      assert.equal(outcome?.event.outcome, 'suppressed', outcome?.event.reason ?? '');
      await store.write((tx) => cutSilence(tx, silence.id, Date.now()));
      deps.rules.forget();
      return silence;
    };

    test('are listed newest first, and ended ones only when requested', async () => {
      const now = Date.now();
      const [first, gone, last] = [await put(store), await put(store, { expires_at: now - 1 }), await put(store)];
      assert.deepEqual(ids(await listSilences(store.db, { openAt: null }, 10)), [last.id, gone.id, first.id]);
      assert.deepEqual(ids(await listSilences(store.db, { openAt: null, before: last.id }, 1)), [gone.id]);
      assert.deepEqual(ids(await listSilences(store.db, { openAt: now }, 10)), [last.id, first.id]);
      assert.deepEqual(ids(await dueSilences(store.db, now, 10)), [gone.id]);
      assert.equal(await store.write((tx) => noteSilenceEnd(tx, gone.id)), true);
      assert.equal(await store.write((tx) => noteSilenceEnd(tx, gone.id)), false);
      assert.deepEqual(await dueSilences(store.db, now, 10), []);
    });

    // Daemons that share a file share a machine and its clock.
    for (const apartMs of engine.hasLeases ? [-3_600_000, 3_600_000] : [0]) {
      test(`hold a rule until they end by the store's clock (daemon ${apartMs / 60_000} minutes off)`, async () => {
        const clock = { ...systemClock, now: () => systemClock.now() + apartMs };
        const daemon = reactionOf(await its.database.open({ daemonId: `dmn_${apartMs}`, clock }));
        const apart = { ...daemon, clock, rules: new CompiledRules(daemon.store, clock) };
        await addRule(apart, 'disk');
        const outcomeOf = async (fingerprint: string): Promise<string | undefined> => {
          apart.rules.forget();
          const [outcome] = await receive(apart, [alert({ fingerprint })], WEBHOOK);
          return outcome?.event.outcome;
        };
        // Made and removed by another one, whose clock is that of the store.
        const { id } = await put(store, { expires_at: Date.now() + 600_000 });
        assert.equal(await outcomeOf('a'), 'suppressed');
        await store.write(async (tx) => cutSilence(tx, id, await tx.dialect.clock(tx.db, tx.now)));
        assert.equal(await outcomeOf('b'), 'fired');
      });
    }

    test('end once when they are removed', async () => {
      const { id } = await put(store);
      const before = await silencesMark(store.db);
      const row = await store.write((tx) => cutSilence(tx, id, Date.now()));
      assert.ok(row.expires_at <= Date.now());
      assert.notEqual(await silencesMark(store.db), before);
      await assert.rejects(
        store.write((tx) => cutSilence(tx, id, Date.now())),
        refusal('conflict', /has already ended/),
      );
      await assert.rejects(
        store.write((tx) => cutSilence(tx, UNKNOWN, Date.now())),
        refusal('not_found'),
      );
    });

    test('of a rule are announced by the longest one, while it is open and has no expression', async () => {
      const now = Date.now();
      const long = await put(store, { expires_at: now + 2_000 });
      await put(store, { expires_at: now + 1_000 });
      await put(store, { rule: 'cpu', when_text: 'true' });
      await put(store, { rule: null, when_text: 'true' });
      await put(store, { rule: 'net', expires_at: now });
      const announced = async (rule?: string): Promise<unknown> =>
        [...(await silencedRules(store.db, now, rule))].map(([name, { id }]) => [name, id]);
      assert.deepEqual(
        [await announced(), await announced('disk'), await announced('net')],
        [[['disk', long.id]], [['disk', long.id]], []],
      );
    });

    test('of one rule end together, with an expression or without, and no others', async () => {
      const now = Date.now();
      const [first, second] = [await put(store), await put(store, { when_text: 'true' })];
      await put(store, { expires_at: now - 1 });
      const others = [await put(store, { rule: 'cpu' }), await put(store, { rule: null, when_text: 'true' })];
      const cut = (): Promise<string[]> => store.write((tx) => cutSilencesOf(tx, 'disk', now));
      assert.deepEqual([await cut(), await cut()], [[first.id, second.id], []]);
      assert.deepEqual(
        ids(await listSilences(store.db, { openAt: now }, 10)).toSorted(),
        others.map(({ id }) => id),
      );
    });

    test('that end with their rule stop nothing more, also if the clock of the store is ahead', async () => {
      const ahead = Date.now() + 30_000;
      await put(store, { created_at: ahead - 1_000, expires_at: ahead + 600_000 });
      await addRule(deps, 'disk');
      assert.equal((await tell())[0]?.event.outcome, 'suppressed');
      await store.write((tx) => cutSilencesOf(tx, 'disk', ahead));
      deps.rules.forget();
      const [outcome] = await tell();
      assert.equal(outcome?.event.outcome, 'fired', outcome?.event.reason ?? '');
      // Its end is still to be noted.
      assert.equal((await dueSilences(store.db, ahead, 10)).length, 1);
    });

    test('make one event if a silenced alert still fires at their end, also for concurrent passes', async () => {
      const { id } = await stoppedAndOver();
      await Promise.all([endSilences(deps), endSilences(deps), endSilences(deps)]);
      await endSilences(deps);
      const [event, ...more] = await announced();
      assert.equal(more.length, 0);
      assert.deepEqual(
        [event?.name, event?.status, event?.labels, event?.outcome],
        ['disk', 'firing', JSON.stringify({ id }), 'ignored'],
      );
      assert.equal(await ended(), 1);
    });

    test('of many rules name the rule that they stopped', async () => {
      await stoppedAndOver({ rule: null, when_text: 'event.labels.instance == "db1"' });
      await endSilences(deps);
      assert.deepEqual(
        (await announced()).map(({ name }) => name),
        ['disk'],
      );
    });

    test('end without an event where nothing was stopped, or where the alert may no longer fire', async () => {
      await addRule(deps, 'disk');
      await tell();
      await put(store, { expires_at: Date.now() - 1 });
      await endSilences(deps);
      assert.deepEqual([await ended(), await announced()], [1, []]);
      await wipe(store);
      await stoppedAndOver();
      await tell({ status: 'resolved' });
      await endSilences(deps);
      assert.deepEqual([await ended(), await announced()], [1, []]);
      await wipe(store);
      await stoppedAndOver({}, { status: null });
      await endSilences(deps);
      assert.deepEqual([await ended(), await announced()], [1, []]);
    });

    test('let a rule act on their end for the user who made them, and this user cannot approve', async () => {
      await addRule(deps, 'after', { when: 'event.source == "silence" && event.name == "disk"', approval: 'required' });
      await stoppedAndOver({ created_by: 'mallory' });
      await endSilences(deps);
      const [event] = await announced();
      assert.equal(event?.outcome, 'gated', event?.reason ?? '');
      const { owners } = await store.db
        .selectFrom('jobs')
        .select('owners')
        .where('id', '=', event?.job_id ?? '')
        .executeTakeFirstOrThrow();
      assert.deepEqual(JSON.parse(owners), ['mallory', 'rolf']);
    });

    test('do not end after the pass was aborted', async () => {
      await put(store, { expires_at: Date.now() - 1 });
      await endSilences(deps, AbortSignal.abort());
      assert.equal(await ended(), 0);
      await endSilences(deps);
      assert.equal(await ended(), 1);
    });
  });
}
