/** What a mute would have held is what it holds: the same notifications are made without it and with it. */
import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { recordOutcomes } from '../../../src/daemon/events/job-outcome-events.ts';
import type { MuteTarget } from '../../../src/domain/rules/mute.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { newId } from '../../../src/lib/id.ts';
import { toJson } from '../../../src/lib/json.ts';
import { previewMute } from '../../../src/reaction/mutes/mute-preview.ts';
import { recordRunOutcome } from '../../../src/reaction/run-outcome.ts';
import type { ReactionDeps } from '../../../src/reaction/types.ts';
import { finishJob } from '../../../src/store/jobs/claims.ts';
import { armJob } from '../../../src/store/notify/endpoints.ts';
import { deleteMute, insertMute } from '../../../src/store/rules/mutes.ts';
import type { WorkflowRunRow } from '../../../src/store/schema/schema.ts';
import { tagOf } from '../../../src/store/engine/tags/tags.ts';
import type { Store } from '../../../src/store/store.ts';
import { addRule, one, reactionOf } from '../../support/fixtures/reaction.ts';
import { claimOne, enqueue, ENGINES, freshStore } from '../engine-fixture.ts';

const SELF = 'dmn_a';
const TARGETS: readonly MuteTarget[] = [
  { kind: 'global', value: null },
  { kind: 'alert', value: 'DiskFull' },
  { kind: 'alert', value: 'Slow' },
  { kind: 'alert', value: 'command:localhost' },
  { kind: 'alert', value: 'rule:act' },
  { kind: 'alert', value: 'workflow:patch' },
  { kind: 'alert', value: 'diskfull' },
  { kind: 'host', value: 'DB1' },
  { kind: 'host', value: 'db2' },
  { kind: 'host', value: 'db3' },
];

async function endOne(store: Store, state: 'failed' | 'succeeded'): Promise<void> {
  const fence = await claimOne(store, SELF);
  await store.write((tx) => finishJob(tx, fence, { state, exitCode: state === 'succeeded' ? 0 : 1 }));
}

function refusedRun(eventId: string | null): WorkflowRunRow {
  return {
    id: newId('wfr', Date.now()),
    workflow: 'patch',
    definition: toJson({ steps: [] }),
    state: 'failed',
    trigger: 'rule',
    origin: 'alert',
    event_id: eventId,
    rule: null,
    matched_at: null,
    schedule: null,
    requested_by: 'rolf',
    owners: toJson(['rolf']),
    resumes: null,
    because: null,
    created_at: Date.now(),
    finished_at: Date.now(),
    cancel_requested_at: null,
    unfinished: 0,
    outcome_event_id: null,
    order_tag: null,
    order_key_id: null,
  };
}

async function endRun(deps: ReactionDeps, eventId: string | null): Promise<void> {
  const run = await deps.store.write(async ({ db, ring }) => {
    const order = refusedRun(eventId);
    const row = { ...order, ...tagOf(ring, 'workflow_runs', order) };
    await db.insertInto('workflow_runs').values(row).execute();
    const step = {
      run_id: row.id,
      position: 0,
      name: 'drain',
      state: 'failed',
      job_id: null,
      taken_from: null,
    } as const;
    await db
      .insertInto('workflow_steps')
      .values({ ...step, reason: 'refused' })
      .execute();
    return row;
  });
  await recordRunOutcome(deps, run);
}

let round = 0;

/** Alerts that rules tell people of, jobs by people and by rules, an armed one, and a run whose step was refused. */
async function play(deps: ReactionDeps): Promise<void> {
  const { store } = deps;
  round += 1;
  for (const [name, labels] of [
    ['DiskFull', { host: 'db1' }],
    ['DiskFull', { instance: 'db2:9100' }],
    ['Slow', {}],
  ] as const) {
    const { event } = await one(deps, { name, labels, fingerprint: `${round}-${JSON.stringify(labels)}` });
    await endOne(store, 'failed');
    await endRun(deps, event.id);
  }
  await enqueue(store, { runbook: 'command:localhost' });
  await endOne(store, 'failed');
  const armed = await enqueue(store, { runbook: 'backup:store' });
  await store.write((tx) => armJob(tx, { job_id: armed, armed_by: 'tok_1', owner: 'ana' }));
  await endOne(store, 'succeeded');
  await enqueue(store, { runbook: 'backup:store' });
  await endOne(store, 'succeeded');
  await endRun(deps, null);
  const signals = { emit: (_name: string, detail: unknown) => assert.fail(JSON.stringify(detail)) };
  await recordOutcomes({ reaction: deps, self: () => SELF, signals: signals as never });
}

async function heldNow(store: Store): Promise<number> {
  return (await store.db.selectFrom('pages').select('id').where('state', '=', 'held').execute()).length;
}

for (const engine of ENGINES) {
  describe(`The preview of a mute on ${engine.name}`, () => {
    const its = freshStore(engine);
    let store: Store;
    let deps: ReactionDeps;
    beforeEach(async () => {
      store = its.store;
      deps = reactionOf(store);
      await addRule(deps, 'tell', { action: { kind: 'notify', message: 'look' } });
      await addRule(deps, 'act');
    });

    test('point 36: counts what the mute holds when the same happens again', async () => {
      await play(deps);
      const now = Date.now();
      const previews = await Promise.all(TARGETS.map((target) => previewMute(store.db, target, now, systemClock)));
      const counts: number[] = [];
      for (const { kind, value } of TARGETS) {
        const before = await heldNow(store);
        const id = newId('mute', Date.now());
        const times = { created_at: 0, expires_at: Date.now() + 600_000, ended_at: null };
        const by = { reason: null, created_via: 'cli', created_by: 'ana' };
        await store.write((tx) => insertMute(tx, { id, scope_kind: kind, scope_value: value, ...by, ...times }));
        await play(deps);
        counts.push((await heldNow(store)) - before);
        await store.write((tx) => deleteMute(tx, id));
      }
      assert.deepEqual(
        previews.map(({ held }) => held),
        counts,
      );
      assert.ok(counts.filter((count) => count === 0).length === 2, `two hold nothing: ${counts.join(' ')}`);
      const [all] = previews;
      assert.deepEqual([all?.examined, all?.held, all?.newest.length], [counts[0], counts[0], counts[0]]);
    });

    test('names what it would hold, newest first, and counts nothing that is older than a week', async () => {
      await play(deps);
      const target = { kind: 'host', value: 'db1' } as const;
      const { newest, held } = await previewMute(store.db, target, Date.now(), systemClock);
      assert.equal(held, newest.length);
      for (const { host, about } of newest) assert.deepEqual([host, about], ['db1', 'DiskFull']);
      const made = newest.map((each) => each.made);
      assert.deepEqual(
        made,
        made.toSorted((a, b) => b - a),
      );
      const inAWeek = Date.now() + 7 * 86_400_000 + 60_000;
      assert.equal((await previewMute(store.db, target, inAWeek, systemClock)).examined, 0);
    });
  });
}
