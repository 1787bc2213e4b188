/** Mutes on each database, and what happens when their time has passed. */
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import type { EventStatus } from '../../../src/domain/events/event.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { newId } from '../../../src/lib/id.ts';
import { TaskSlicer } from '../../../src/lib/flow/cooperative.ts';
import { toJson } from '../../../src/lib/json.ts';
import { endingsLoop } from '../../../src/daemon/events/endings.ts';
import { evaluateEnding, endMutes } from '../../../src/reaction/mute-endings.ts';
import type { ReactionDeps } from '../../../src/reaction/types.ts';
import { CompiledRules } from '../../../src/reaction/rules/compiled-rules.ts';
import { insertEvent } from '../../../src/store/events/events.ts';
import {
  activeMutes,
  deleteMute,
  endMute,
  expiredMutes,
  insertMute,
  listMutes,
} from '../../../src/store/rules/mutes.ts';
import type { MuteRow } from '../../../src/store/schema/schema.ts';
import type { Store } from '../../../src/store/store.ts';
import { ENGINES, type EngineUnderTest } from '../engine-fixture.ts';

const NOW = Date.now();
const GONE = { expires_at: NOW - 1 } as const;

async function openStoreOf(t: TestContext, engine: EngineUnderTest): Promise<{ store: Store; deps: ReactionDeps }> {
  const database = await engine.create();
  t.after(() => database.remove());
  const store = await database.open();
  return {
    store,
    deps: {
      store,
      clock: systemClock,
      wake: () => undefined,
      approvalTtlMs: 60_000,
      rules: new CompiledRules(store, systemClock),
      turns: new TaskSlicer(systemClock),
      onError: () => undefined,
    },
  };
}

function put(store: Store, some: Partial<MuteRow> = {}): Promise<MuteRow> {
  return store.write(async (tx) => {
    const made = {
      created_via: 'api',
      created_by: 'ana',
      created_at: NOW - 60_000,
      expires_at: NOW + 600_000,
      ended_at: null,
    };
    const row: MuteRow = {
      id: newId('mute', tx.now),
      scope_kind: 'alert',
      scope_value: 'DiskFull',
      reason: null,
      ...made,
      ...some,
    };
    await insertMute(tx, row);
    return row;
  });
}

function ids(rows: readonly MuteRow[]): string[] {
  return rows.map(({ id }) => id);
}

interface Answer {
  readonly name?: string;
  readonly status?: EventStatus | null;
  readonly fingerprint?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly source?: string;
}

function tell(
  store: Store,
  { name = 'DiskFull', status = 'firing', fingerprint = 'f1', labels = {}, source = 'alertmanager' }: Answer = {},
): Promise<void> {
  return store.write((tx) => {
    const facts = {
      source,
      name,
      status,
      netgroup: null,
      severity: null,
      fingerprint,
      labels: toJson(labels),
      annotations: toJson({}),
    };
    const end = { outcome: 'ignored', reason: 'made by a test', rule: null, job_id: null, approval_id: null } as const;
    insertEvent(tx, {
      id: newId('evt', tx.now),
      ...facts,
      ...end,
      received_at: tx.now,
      check_observations: null,
      trace: toJson([]),
      depth: 0,
    });
    return Promise.resolve();
  });
}

for (const engine of ENGINES) {
  describe(`Mutes on ${engine.name}`, () => {
    test('are listed newest first, and expired ones only when requested', async (t) => {
      const { store } = await openStoreOf(t, engine);
      const [open, gone, ended] = [
        await put(store),
        await put(store, GONE),
        await put(store, { ...GONE, ended_at: NOW }),
      ];
      assert.deepEqual(ids(await listMutes(store.db, { activeAt: null }, 10)), [ended.id, gone.id, open.id]);
      assert.deepEqual(ids(await listMutes(store.db, { activeAt: null, before: ended.id }, 1)), [gone.id]);
      assert.deepEqual(ids(await listMutes(store.db, { activeAt: NOW }, 10)), [open.id]);
      assert.deepEqual(ids(await activeMutes(store.db, NOW)), [open.id]);
      assert.deepEqual(await activeMutes(store.db, open.expires_at), []);
      assert.deepEqual(ids(await expiredMutes(store.db, NOW, 10)), [gone.id]);
    });

    test('are ended once and removed once', async (t) => {
      const { store } = await openStoreOf(t, engine);
      const { id } = await put(store, GONE);
      assert.deepEqual(await Promise.all([1, 2].map(() => store.write((tx) => endMute(tx, id)))), [true, false]);
      assert.equal((await store.write((tx) => deleteMute(tx, id))).id, id);
      await assert.rejects(
        store.write((tx) => deleteMute(tx, id)),
        /There is no mute/,
      );
      assert.equal(await store.write((tx) => endMute(tx, id)), false);
    });

    test('the loop of their ends asks again when the next one ends, and rests without one', async (t) => {
      const { store, deps } = await openStoreOf(t, engine);
      const pass = () => endingsLoop({ reaction: deps }).once(new AbortController().signal);
      assert.deepEqual(await pass(), { did: { mutes_ended: 0, silences_ended: 0 } });
      await put(store, GONE);
      await put(store, { expires_at: Date.now() + 3_600_000 });
      const { did, dueMs = 0 } = (await pass()) ?? {};
      assert.deepEqual(did, { mutes_ended: 1, silences_ended: 0 });
      assert.ok(dueMs > 3_500_000 && dueMs <= 3_600_000, `${dueMs} ms`);
    });

    test('make one event if a muted alert still fires, also for concurrent passes', async (t) => {
      const { store, deps } = await openStoreOf(t, engine);
      await tell(store);
      const mute = await put(store, { ...GONE, reason: 'new disks' });
      await put(store, { ...GONE, scope_value: 'Other' });
      await put(store);
      await Promise.all([endMutes(deps), endMutes(deps)]);
      await endMutes(deps);
      assert.equal(
        (await store.db.selectFrom('mutes').select('id').where('ended_at', 'is not', null).execute()).length,
        2,
      );
      const rows = await store.db.selectFrom('events').selectAll().where('source', '=', 'mute').execute();
      assert.deepEqual(
        rows.map(({ name, status, outcome, fingerprint }) => ({ name, status, outcome, fingerprint })),
        [{ name: 'DiskFull', status: 'firing', outcome: 'ignored', fingerprint: mute.id }],
      );
      assert.deepEqual(
        [rows[0]?.labels, rows[0]?.annotations].map((text) => JSON.parse(text ?? '') as unknown),
        [{ id: mute.id }, { scope: 'alert', reason: 'new disks' }],
      );
    });
  });
}

/** The events so far, oldest first, the scope of the mute, and whether an alert in it still fires. */
const STILL_FIRES: readonly (readonly [
  rule: string,
  answer: readonly Answer[],
  mute: Partial<MuteRow>,
  fires: boolean,
])[] = [
  ['there was no event', [], {}, false],
  ['it was resolved last', [{}, { status: 'resolved' }], {}, false],
  ['it fired again after that', [{}, { status: 'resolved' }, {}], {}, true],
  [
    'one of its things was resolved last and another one fires',
    [{ fingerprint: 'a' }, { fingerprint: 'b' }, { fingerprint: 'b', status: 'resolved' }],
    {},
    true,
  ],
  ['another alert fires', [{ name: 'Other' }], {}, false],
  ['the event has no status', [{ status: null }], {}, false],
  ['the only event is the end of a mute', [{ source: 'mute' }], {}, false],
  [
    'an alert of the host fires',
    [{ labels: { instance: 'db1:9100' } }],
    { scope_kind: 'host', scope_value: 'db1' },
    true,
  ],
  [
    'an alert of another host fires',
    [{ labels: { host: 'db2', instance: 'db1:9100' } }],
    { scope_kind: 'host', scope_value: 'db1' },
    false,
  ],
  ['everything was held and something fires', [{ name: 'Other' }], { scope_kind: 'global', scope_value: null }, true],
  ['500 other events came after it', [{}, ...Array.from({ length: 500 }, () => ({ name: 'Other' }))], {}, true],
];

for (const [rule, answer, mute, fires] of STILL_FIRES) {
  test(`Where ${rule}, a mute ends ${fires ? 'with an event' : 'in silence'}`, async (t) => {
    const engine = ENGINES[0];
    assert.ok(engine !== undefined);
    const { store, deps } = await openStoreOf(t, engine);
    for (const each of answer) await tell(store, each);
    assert.equal((await evaluateEnding(deps, await put(store, mute))) !== null, fires);
  });
}
