/** What comes of an event, with rules as they are stored, on each database. */
import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import type { NormalEvent } from '../../src/domain/event.ts';
import { Failure } from '../../src/domain/failure.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { consider, type Outcome, receive, receiveUnreadable, type ReactionDeps, settle } from '../../src/reaction/receive.ts';
import { type OpenBook, RuleBook } from '../../src/reaction/rule-book.ts';
import { decodeTrace } from '../../src/reaction/trace.ts';
import { getApproval } from '../../src/store/approvals.ts';
import { insertMute } from '../../src/store/mutes.ts';
import { setCordon } from '../../src/store/cordon.ts';
import { countEvents, getEvent } from '../../src/store/events.ts';
import { getJob } from '../../src/store/jobs.ts';
import { replaceRule, switchRule } from '../../src/store/rules.ts';
import { insertSilence } from '../../src/store/silences.ts';
import type { Store } from '../../src/store/store.ts';
import { addRule, alert, reactionOf, TRUE, WEBHOOK } from '../support/reaction-maker.ts';
import { insertWorkspace } from '../../src/store/workspaces.ts';
import { claimOne, ENGINES, freshStore } from './kit.ts';
import { finishJob } from '../../src/store/claims.ts';

async function one(deps: ReactionDeps, some: Partial<NormalEvent> = {}): Promise<Outcome> {
  const [outcome] = await receive(deps, [alert(some)], WEBHOOK);
  assert.ok(outcome !== undefined);
  return outcome;
}

/** How long ago every fire was, moved back: a test waits for no cooldown. */
async function age(store: Store, ms: number): Promise<void> {
  await store.write((tx) => tx.db.updateTable('rule_fires').set((eb) => ({ fired_at: eb('fired_at', '-', ms) })).execute());
}

async function jobCount(store: Store): Promise<number> {
  return (await store.db.selectFrom('jobs').select('id').execute()).length;
}

/** A book that goes on showing what it read first, until it is told to forget. */
class OldBook extends RuleBook {
  #old: OpenBook | null = null;

  override async current(): Promise<OpenBook> {
    return (this.#old ??= await super.current());
  }

  override forget(): void {
    this.#old = null;
    super.forget();
  }
}

/** Alerts of the same 20 things, in another order for each n. */
function message(n: number): NormalEvent[] {
  return Array.from({ length: 20 }, (_, i) => alert({ fingerprint: `f${(n + i) % 20}` }));
}

for (const engine of ENGINES) {
  describe(`An event on ${engine.name}`, () => {
    const its = freshStore(engine);
    let store: Store;
    let deps: ReturnType<typeof reactionOf>;
    beforeEach(() => {
      store = its.store;
      deps = reactionOf(store);
    });

    test('fires the job of its rule, in the name of its sender and with the owners of the rule behind it', async () => {
      await addRule(deps, 'clean-up');
      const { event, jobId } = await one(deps);
      assert.equal(event.outcome, 'fired');
      assert.equal(event.reason, `Rule clean-up matched: ${jobId} is queued.`);
      const job = await getJob(store.db, jobId ?? '');
      const { kind, state, runbook, trigger, requested_by: by, owners } = job;
      assert.deepEqual(
        { kind, state, runbook, trigger, by, owners },
        { kind: 'command', state: 'queued', runbook: 'rule:clean-up', trigger: 'rule', by: 'webhook:am', owners: '["rolf"]' },
      );
      const stored = await getEvent(store.db, event.id);
      assert.deepEqual([stored.rule, stored.job_id, stored.outcome, stored.received_at === event.received_at], ['clean-up', jobId, 'fired', true]);
      assert.equal(deps.wakes(), 1);
      const ledger = await store.db.selectFrom('ledger').select(['operation', 'target', 'detail']).where('operation', '=', 'rule.fire').execute();
      assert.deepEqual(ledger.map((row) => ({ ...row })), [{ operation: 'rule.fire', target: jobId, detail: JSON.stringify({ event_id: event.id, rule: 'clean-up' }) }]);
    });

    test('keeps who asked in the chain of what it fires, once each', async () => {
      await addRule(deps, 'clean-up', { owners: ['rolf', 'ana'] });
      const [outcome] = await receive(deps, [alert()], { ...WEBHOOK, owners: ['mia', 'rolf'], trigger: 'host' });
      const job = await getJob(store.db, outcome?.jobId ?? '');
      assert.deepEqual([job.owners, job.trigger], ['["mia","rolf","ana"]', 'host']);
    });

    test('is suppressed while the job of the same rule, fingerprint and status is open, and fires again after it', async () => {
      await addRule(deps, 'clean-up');
      const first = await one(deps);
      const second = await one(deps);
      assert.equal(second.event.reason, `Duplicate: rule clean-up made ${first.jobId} for this fingerprint and status, and that is queued.`);
      assert.equal((await one(deps, { status: 'resolved' })).event.outcome, 'fired');
      assert.equal((await one(deps, { fingerprint: 'disk-2' })).event.outcome, 'fired');
      const fence = await claimOne(store);
      assert.equal(fence.jobId, first.jobId);
      await store.write((tx) => finishJob(tx, fence, { state: 'failed', exitCode: 1 }));
      assert.equal((await one(deps)).event.outcome, 'fired');
    });

    test('finds the duplicate of an alert that stands twice in one message', async () => {
      await addRule(deps, 'clean-up');
      const outcomes = await receive(deps, [alert(), alert(), alert({ fingerprint: 'disk-2' })], WEBHOOK);
      assert.deepEqual(outcomes.map(({ event }) => event.outcome), ['fired', 'suppressed', 'fired']);
    });

    test('is suppressed within the cooldown of its rule, whatever its status', async () => {
      await addRule(deps, 'clean-up', { cooldownMs: 600_000 });
      await one(deps);
      assert.match((await one(deps, { status: 'resolved' })).event.reason, /^Rule clean-up acted for this fingerprint .* ago, and its cooldown is 10m\.$/);
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

    test('is stopped by no silence that this version refuses, or that fails for it, and its steps say so', async () => {
      await addRule(deps, 'clean-up');
      const silence = { rule: 'clean-up', reason: 'the move', created_by: 'ana', created_at: Date.now(), expires_at: Date.now() + 60_000 };
      const add = (when: string) => store.write((tx) => insertSilence(tx, { ...silence, when_text: when }));
      await add('event.source == "alertmanager" && event.received_at > duration("5m")');
      const { id: refused } = await add('event.name == "DiskFull" || event.received_at > duration("5m")');
      await add('event.labels.nope == "x"');
      const { event } = await one(deps);
      assert.equal(event.outcome, 'fired');
      const why = `Silence ${refused} (and 1 more) could not be evaluated and stops nothing: character 47: a time is compared with a duration, which can never be right.`;
      assert.deepEqual(decodeTrace(event.trace).find(({ step }) => step === 'silence'), { step: 'silence', rule: 'clean-up', result: 'error', why });
    });

    test('is suppressed by an open silence of its rule', async () => {
      await addRule(deps, 'clean-up');
      const silence = { rule: 'clean-up', when_text: null, reason: 'the move', created_by: 'ana', created_at: Date.now(), expires_at: Date.now() + 60_000 };
      const { id } = await store.write((tx) => insertSilence(tx, silence));
      deps.rules.forget();
      const { event } = await one(deps);
      assert.equal(event.outcome, 'suppressed');
      assert.match(event.reason, new RegExp(`^Silence ${id} stops rule clean-up until .*: the move$`));
    });

    test('gates the job where the rule requires approval: with its origin, its rule and its own time to live', async () => {
      await addRule(deps, 'clean-up', { approval: 'required', approvalTtlMs: 120_000 });
      const { event, jobId, approvalId } = await one(deps);
      assert.deepEqual([event.outcome, event.reason], ['gated', `Rule clean-up matched: ${jobId} waits for the approval ${approvalId}.`]);
      const approval = await getApproval(store.db, approvalId ?? '');
      const { origin, alert: from, rule, matched_at: matchedAt, owners, created_at: createdAt, expires_at: expiresAt } = approval;
      assert.deepEqual(
        { origin, from, rule, matchedAt, owners, ttl: expiresAt - createdAt },
        { origin: 'alert', from: event.id, rule: 'clean-up', matchedAt: event.received_at, owners: '["rolf"]', ttl: 120_000 },
      );
      const job = await getJob(store.db, jobId ?? '');
      assert.deepEqual([job.state, job.expires_at], ['awaiting_approval', expiresAt]);
      assert.equal((await one(deps)).event.outcome, 'suppressed');
    });

    test('has the outcome error, and its row, where the job is refused', async () => {
      await addRule(deps, 'apply-net', { action: { kind: 'apply', workspace: 'net', timeout: null } });
      assert.equal((await one(deps)).event.reason, 'Rule apply-net matched, but nothing was queued: There is no workspace net.');
      const rest = { source: null, path: '/srv/net', approve_when: null, deny_when: null, protect_destroy: 0 } as const;
      await store.write((tx) => insertWorkspace(tx, { name: 'net', ...rest, require_saved_plan: 1 }));
      const { event } = await one(deps);
      assert.equal(event.outcome, 'error');
      assert.match(event.reason, /^Rule apply-net matched, but nothing was queued: This workspace applies saved plans only/);
      assert.deepEqual([await jobCount(store), (await store.db.selectFrom('rule_fires').selectAll().execute()).length], [0, 0]);
    });

    test('is matched where a rule only tells people: its page is asked for once, also beside a rule that acts', async () => {
      await addRule(deps, 'a-tell', { action: { kind: 'notify', message: 'The disk is full' } });
      const { event } = await one(deps);
      assert.deepEqual([event.outcome, event.rule], ['matched', 'a-tell']);
      await addRule(deps, 'b-clean');
      assert.equal((await one(deps)).event.outcome, 'fired');
      const pages = await store.db.selectFrom('pages').select(['topic', 'kind']).orderBy('topic').execute();
      assert.equal(pages.length, 2);
      assert.deepEqual(pages[0]?.topic, `rule:${event.id}:a-tell`);
    });

    test('is matched where a mute holds what a rule tells people: the page is kept as held and never sent, and the steps name the mute', async () => {
      await addRule(deps, 'a-tell', { action: { kind: 'notify', message: 'The disk is full' } });
      const mute = { id: 'mute_1', scope_kind: 'alert', scope_value: 'DiskFull', reason: null, created_by: 'mia', created_via: 'cli', created_at: 0, expires_at: Date.now() + 60_000, ended_at: null } as const;
      await store.write((tx) => insertMute(tx, mute));
      const { event } = await one(deps);
      assert.equal(event.outcome, 'matched');
      const pages = await store.db.selectFrom('pages').select(['state', 'reason']).execute();
      assert.deepEqual(pages.map((each) => ({ ...each })), [{ state: 'held', reason: 'held by mute_1' }]);
      assert.match(decodeTrace((await getEvent(store.db, event.id)).trace).find(({ step }) => step === 'fire')?.why ?? '', /mute_1 holds that/);
      assert.equal(deps.wakes(), 0);
      await one(deps, { name: 'Other', labels: {}, fingerprint: 'other' });
      assert.equal((await store.db.selectFrom('pages').select('id').where('state', '=', 'new').execute()).length, 1);
    });

    test('does not wake the daemon where nothing came of it', async () => {
      await one(deps);
      assert.equal(deps.wakes(), 0);
    });

    test('F23: a rule that can not be evaluated is no match, and the next one decides', async () => {
      await addRule(deps, 'a-broken', { when: 'event.labels.nowhere == "x"' });
      const { event } = await one(deps);
      assert.deepEqual([event.outcome, event.rule], ['error', 'a-broken']);
      assert.match(event.reason, /^Rule a-broken could not be evaluated: .*nowhere/);
      await addRule(deps, 'b-clean');
      const second = await one(deps);
      assert.equal(second.event.outcome, 'fired');
      assert.deepEqual(decodeTrace((await getEvent(store.db, second.event.id)).trace).slice(0, 2).map(({ rule, result }) => [rule, result]), [['a-broken', 'error'], ['b-clean', 'passed']]);
    });

    test('F23: one poison among 1,000 events takes the outcome error, and the others theirs; the summary adds up', async () => {
      await addRule(deps, 'clean-up', { when: 'event.source == "generic" && event.name == "DiskFull"' });
      const events = Array.from({ length: 1_000 }, (_, n) => alert({ name: n % 10 === 0 ? 'DiskFull' : 'Noise', fingerprint: `f${n}` }));
      // What no normaliser makes: it can not even be written down.
      events[500] = alert({ fingerprint: 'poison', labels: { size: 1n as never }, annotations: { webhook: 'am', summary: 'poison' } });
      const outcomes = await receive(deps, events, WEBHOOK);
      const { reason, annotations } = outcomes[500]?.event ?? {};
      assert.deepEqual([reason, annotations], ['It could not be handled: a fault of the service.', '{"webhook":"am"}']);
      assert.deepEqual(await countEvents(store.db), { ignored: 900, matched: 0, suppressed: 0, gated: 0, fired: 99, error: 1 });
      assert.equal(await jobCount(store), 99);
    });

    test('F22: 1,000 alerts of 20 things on two daemons make 20 jobs', async () => {
      await addRule(deps, 'clean-up', { cooldownMs: 600_000 });
      const other = reactionOf(await its.database.open());
      await Promise.all(Array.from({ length: 50 }, (_, n) => receive(n % 2 === 0 ? deps : other, message(n), WEBHOOK)));
      assert.equal(await jobCount(store), 20);
      const counts = await countEvents(store.db);
      assert.deepEqual([counts.fired, counts.suppressed], [20, 980]);
    });

    test('a rule that was disabled or changed does not act as what it was, also where a process has not heard of it', async () => {
      await addRule(deps, 'clean-up');
      const rules = new OldBook(store, systemClock);
      const late = { ...deps, rules };
      await one(late);
      await store.write((tx) => switchRule(tx, 'clean-up', { enabled: false }));
      const [considered] = await consider(late, [alert({ fingerprint: 'disk-2' })], WEBHOOK);
      assert.ok(considered !== undefined);
      await assert.rejects(store.write((tx) => settle(late, tx, considered)), (error) => error instanceof Failure && error.code === 'unavailable');
      assert.equal((await one(late, { fingerprint: 'disk-2' })).event.outcome, 'ignored');
      await store.write((tx) => switchRule(tx, 'clean-up', { enabled: true }));
      rules.forget();
      await one(late, { fingerprint: 'disk-3' });
      const changed = { name: 'clean-up', when: 'event.source == "generic"', cooldownMs: null, approval: 'required', approvalTtlMs: null, action: TRUE, owners: ['rolf'], addedBy: 'rolf' } as const;
      await store.write((tx) => replaceRule(tx, changed));
      assert.equal((await one(late, { fingerprint: 'disk-4' })).event.outcome, 'gated');
      assert.equal(await jobCount(store), 3);
    });

    test('that could not be read has its row, with the outcome error', async () => {
      const [row] = await receiveUnreadable(deps, 'grafana', ['The body is no JSON.'], { peer_ip: '127.0.0.1' });
      const stored = await getEvent(store.db, row!.id);
      assert.deepEqual([stored.source, stored.outcome, stored.reason, stored.labels], ['grafana', 'error', 'The body is no JSON.', '{"peer_ip":"127.0.0.1"}']);
    });

    test('with characters that no database takes is kept without them', async () => {
      const { event } = await one(deps, { name: 'Disk\0Full', fingerprint: 'a\0b', severity: '\0', labels: { a: 'b\0' } });
      const stored = await getEvent(store.db, event.id);
      assert.deepEqual([stored.name, stored.fingerprint, stored.severity], ['Disk\uFFFDFull', 'a\uFFFDb', '\uFFFD']);
      assert.deepEqual(JSON.parse(stored.labels), { a: 'b\0' });
    });
  });
}
