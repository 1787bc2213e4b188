/** What holds an event back from a second job: a duplicate, a cooldown, the cordon, a silence, a mute. */
import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import type { NormalEvent } from '../../../src/domain/events/event.ts';
import { receive } from '../../../src/reaction/receive.ts';
import { decodeTrace } from '../../../src/reaction/trace.ts';
import { insertMute } from '../../../src/store/rules/mutes.ts';
import { setCordon } from '../../../src/store/maintenance/cordon.ts';
import { countEvents, getEvent } from '../../../src/store/events/events.ts';
import { insertSilence } from '../../../src/store/rules/silences.ts';
import type { Store } from '../../../src/store/store.ts';
import { addRule, alert, reactionOf, WEBHOOK, one, jobCount } from '../../support/fixtures/reaction.ts';
import { claimOne, ENGINES, freshStore } from '../engine-fixture.ts';
import { finishJob } from '../../../src/store/jobs/claims.ts';

/** How long ago every fire was, moved back: a test waits for no cooldown. */
async function age(store: Store, ms: number): Promise<void> {
  await store.write((tx) =>
    tx.db
      .updateTable('rule_fires')
      .set((eb) => ({ fired_at: eb('fired_at', '-', ms) }))
      .execute(),
  );
}

/** Alerts of the same 20 things, in another order for each n. */
function message(n: number): NormalEvent[] {
  return Array.from({ length: 20 }, (_, i) => alert({ fingerprint: `f${(n + i) % 20}` }));
}

for (const engine of ENGINES) {
  describe(`An event that is held back on ${engine.name}`, () => {
    const its = freshStore(engine);
    let store: Store;
    let deps: ReturnType<typeof reactionOf>;
    beforeEach(() => {
      store = its.store;
      deps = reactionOf(store);
    });

    test('is suppressed while a job of the same rule, fingerprint and status is open, then fires again', async () => {
      await addRule(deps, 'clean-up');
      const first = await one(deps);
      const second = await one(deps);
      assert.equal(
        second.event.reason,
        `Duplicate: rule clean-up made ${first.jobId} for this fingerprint and status, and that is queued.`,
      );
      assert.equal((await one(deps, { status: 'resolved' })).event.outcome, 'fired');
      assert.equal((await one(deps, { fingerprint: 'disk-2' })).event.outcome, 'fired');
      const fence = await claimOne(store);
      assert.equal(fence.jobId, first.jobId);
      await store.write((tx) => finishJob(tx, fence, { state: 'failed', exitCode: 1 }));
      assert.equal((await one(deps)).event.outcome, 'fired');
    });

    test('finds the duplicate of an alert that is twice in one message', async () => {
      await addRule(deps, 'clean-up');
      const outcomes = await receive(deps, [alert(), alert(), alert({ fingerprint: 'disk-2' })], WEBHOOK);
      assert.deepEqual(
        outcomes.map(({ event }) => event.outcome),
        ['fired', 'suppressed', 'fired'],
      );
    });

    test('is suppressed within the cooldown of its rule, whatever its status', async () => {
      await addRule(deps, 'clean-up', { cooldownMs: 600_000 });
      await one(deps);
      assert.match(
        (await one(deps, { status: 'resolved' })).event.reason,
        /^Rule clean-up acted for this fingerprint .* ago, and its cooldown is 10m\.$/,
      );
      await age(store, 600_000);
      assert.equal((await one(deps, { status: 'resolved' })).event.outcome, 'fired');
    });

    test('is suppressed while the service is cordoned, and queues nothing', async () => {
      await addRule(deps, 'clean-up');
      await store.write((tx) => setCordon(tx, 'ana'));
      const { event } = await one(deps);
      assert.deepEqual([event.outcome, event.reason, event.rule], ['suppressed', 'cordoned', 'clean-up']);
      assert.equal(await jobCount(store), 0);
      assert.equal((await one(deps, { source: 'gatus' })).event.outcome, 'ignored');
    });

    test('ignores a silence that this version refuses or that fails for it, and its steps say so', async () => {
      await addRule(deps, 'clean-up');
      const silence = {
        rule: 'clean-up',
        reason: 'the move',
        created_by: 'ana',
        created_at: Date.now(),
        expires_at: Date.now() + 60_000,
      };
      const add = (when: string) => store.write((tx) => insertSilence(tx, { ...silence, when_text: when }));
      await add('event.source == "alertmanager" && event.received_at > duration("5m")');
      const { id: refused } = await add('event.name == "DiskFull" || event.received_at > duration("5m")');
      await add('int(event.labels.nope) == 1');
      const { event } = await one(deps);
      assert.equal(event.outcome, 'fired');
      const why =
        `Silence ${refused} (and 1 more) could not be evaluated and stops nothing: character 47: a time is ` +
        'compared with a duration, which is never true.';
      assert.deepEqual(
        decodeTrace(event.trace).steps.find(({ step }) => step === 'silence'),
        { step: 'silence', rule: 'clean-up', result: 'error', why },
      );
    });

    test('is suppressed by an open silence of its rule', async () => {
      await addRule(deps, 'clean-up');
      const silence = {
        rule: 'clean-up',
        when_text: null,
        reason: 'the move',
        created_by: 'ana',
        created_at: Date.now(),
        expires_at: Date.now() + 60_000,
      };
      const { id } = await store.write((tx) => insertSilence(tx, silence));
      deps.rules.forget();
      const { event } = await one(deps);
      assert.equal(event.outcome, 'suppressed');
      assert.match(event.reason, new RegExp(`^Silence ${id} stops rule clean-up until .*: the move$`));
    });

    test('is matched if a mute covers the notification of its rule, and the steps name the mute', async () => {
      await addRule(deps, 'a-tell', { action: { kind: 'notify', message: 'The disk is full' } });
      const mute = {
        id: 'mute_1',
        scope_kind: 'alert',
        scope_value: 'DiskFull',
        reason: null,
        created_by: 'mia',
        created_via: 'cli',
        created_at: 0,
        expires_at: Date.now() + 60_000,
        ended_at: null,
      } as const;
      await store.write((tx) => insertMute(tx, mute));
      const { event } = await one(deps);
      assert.equal(event.outcome, 'matched');
      const pages = await store.db.selectFrom('pages').select(['state', 'reason']).execute();
      assert.deepEqual(
        pages.map((each) => ({ ...each })),
        [{ state: 'held', reason: 'held by mute_1' }],
      );
      assert.match(
        decodeTrace((await getEvent(store.db, event.id)).trace).steps.find(({ step }) => step === 'fire')?.why ?? '',
        /suppressed by mute mute_1/,
      );
      assert.equal(deps.wakes(), 0);
      await one(deps, { name: 'Other', labels: {}, fingerprint: 'other' });
      assert.equal((await store.db.selectFrom('pages').select('id').where('state', '=', 'new').execute()).length, 1);
    });

    test('F22: 1,000 alerts of 20 things on two daemons make 20 jobs', async () => {
      await addRule(deps, 'clean-up', { cooldownMs: 600_000 });
      const other = reactionOf(await its.database.open());
      await Promise.all(Array.from({ length: 50 }, (_, n) => receive(n % 2 === 0 ? deps : other, message(n), WEBHOOK)));
      assert.equal(await jobCount(store), 20);
      const counts = await countEvents(store.db);
      assert.deepEqual([counts.fired, counts.suppressed], [20, 980]);
    });
  });
}
