/** What comes of an event, with rules as they are stored, on each database. */
import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { Failure } from '../../../src/domain/failure.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { receive, receiveUnreadable } from '../../../src/reaction/receive.ts';
import { evaluateBy, evaluateRules } from '../../../src/reaction/evaluate-rules.ts';
import { decideAndRecord } from '../../../src/reaction/decide-and-record.ts';
import { type OpenRules, CompiledRules } from '../../../src/reaction/rules/compiled-rules.ts';
import { unindexed } from '../../../src/reaction/rules/rule-set.ts';
import { decodeTrace } from '../../../src/reaction/trace.ts';
import { getApproval } from '../../../src/store/approvals/approvals.ts';
import { countEvents, getEvent } from '../../../src/store/events/events.ts';
import { getJob } from '../../../src/store/jobs/jobs.ts';
import { deleteRule, insertRule, replaceRule, switchRule } from '../../../src/store/rules/rules.ts';
import type { Store } from '../../../src/store/store.ts';
import { addRule, alert, reactionOf, TRUE, WEBHOOK, one, jobCount } from '../../support/fixtures/reaction.ts';
import { insertWorkspace } from '../../../src/store/workspaces/workspaces.ts';
import { ENGINES, freshStore } from '../engine-fixture.ts';

/** Compiled rules that are not read again until `forget` is called. */
class StaleRules extends CompiledRules {
  #old: OpenRules | null = null;

  override async current(): Promise<OpenRules> {
    return (this.#old ??= await super.current());
  }

  override forget(): void {
    this.#old = null;
    super.forget();
  }
}

function fails(): never {
  throw new TypeError('a fault of the service');
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

    test('fires the job of its rule, requested by its sender, with the owners of the rule', async () => {
      await addRule(deps, 'clean-up');
      const { event, jobId } = await one(deps);
      assert.equal(event.outcome, 'fired');
      assert.equal(event.reason, `Rule clean-up matched: ${jobId} is queued.`);
      const job = await getJob(store.db, jobId ?? '');
      const { kind, state, runbook, trigger, requested_by: by, owners } = job;
      assert.deepEqual(
        { kind, state, runbook, trigger, by, owners },
        {
          kind: 'command',
          state: 'queued',
          runbook: 'rule:clean-up',
          trigger: 'rule',
          by: 'webhook:am',
          owners: '["rolf"]',
        },
      );
      const stored = await getEvent(store.db, event.id);
      assert.deepEqual(
        [stored.rule, stored.job_id, stored.outcome, stored.received_at === event.received_at],
        ['clean-up', jobId, 'fired', true],
      );
      assert.equal(deps.wakes(), 1);
      const ledger = await store.db
        .selectFrom('ledger')
        .select(['operation', 'target', 'detail'])
        .where('operation', '=', 'rule.fire')
        .execute();
      assert.deepEqual(
        ledger.map((row) => ({ ...row })),
        [{ operation: 'rule.fire', target: jobId, detail: JSON.stringify({ event_id: event.id, rule: 'clean-up' }) }],
      );
    });

    test('keeps each requester of the chain once in the owners of the job', async () => {
      await addRule(deps, 'clean-up', { owners: ['rolf', 'ana'] });
      const [outcome] = await receive(deps, [alert()], { ...WEBHOOK, owners: ['mia', 'rolf'], trigger: 'host' });
      const job = await getJob(store.db, outcome?.jobId ?? '');
      assert.deepEqual([job.owners, job.trigger], ['["mia","rolf","ana"]', 'host']);
    });

    test('gates the job where the rule requires approval: with its origin, rule and own time to live', async () => {
      await addRule(deps, 'clean-up', { approval: 'required', approvalTtlMs: 120_000 });
      const { event, jobId, approvalId } = await one(deps);
      assert.deepEqual(
        [event.outcome, event.reason],
        [
          'gated',
          `Rule clean-up matched: ${jobId} waits for the approval ${approvalId}. No token can decide it: each one of ` +
            'the scope approve or operator belongs to somebody who asked for it or caused it.',
        ],
      );
      const approval = await getApproval(store.db, approvalId ?? '');
      const {
        origin,
        alert: from,
        rule,
        matched_at: matchedAt,
        owners,
        created_at: createdAt,
        expires_at: expiresAt,
      } = approval;
      assert.deepEqual(
        { origin, from, rule, matchedAt, owners, ttl: expiresAt - createdAt },
        {
          origin: 'alert',
          from: event.id,
          rule: 'clean-up',
          matchedAt: event.received_at,
          owners: '["rolf"]',
          ttl: 120_000,
        },
      );
      const job = await getJob(store.db, jobId ?? '');
      assert.deepEqual([job.state, job.expires_at], ['awaiting_approval', expiresAt]);
      assert.equal((await one(deps)).event.outcome, 'suppressed');
    });

    test('has the outcome error, and its row, where the job is refused', async () => {
      await addRule(deps, 'apply-net', { action: { kind: 'apply', workspace: 'net', timeout: null } });
      assert.equal(
        (await one(deps)).event.reason,
        'Rule apply-net matched, but nothing was queued: There is no workspace net.',
      );
      const rest = { source: null, path: '/srv/net', approve_when: null, deny_when: null, protect_destroy: 0 } as const;
      await store.write((tx) => insertWorkspace(tx, { name: 'net', ...rest, require_saved_plan: 1 }));
      const { event } = await one(deps);
      assert.equal(event.outcome, 'error');
      assert.match(
        event.reason,
        /^Rule apply-net matched, but nothing was queued: This workspace applies saved plans only/,
      );
      assert.deepEqual(
        [await jobCount(store), (await store.db.selectFrom('rule_fires').selectAll().execute()).length],
        [0, 0],
      );
    });

    test('is matched if a rule only notifies: it requests one notification, also beside a rule that acts', async () => {
      await addRule(deps, 'a-tell', { action: { kind: 'notify', message: 'The disk is full' } });
      const { event } = await one(deps);
      assert.deepEqual([event.outcome, event.rule], ['matched', 'a-tell']);
      await addRule(deps, 'b-clean');
      assert.equal((await one(deps)).event.outcome, 'fired');
      const pages = await store.db.selectFrom('pages').select(['topic', 'kind']).orderBy('topic').execute();
      assert.equal(pages.length, 2);
      assert.deepEqual(pages[0]?.topic, `rule:${event.id}:a-tell`);
    });

    test('does not wake the daemon if it has no effect', async () => {
      await one(deps);
      assert.equal(deps.wakes(), 0);
    });

    test('F23: a rule that cannot be evaluated is no match, and the next one decides', async () => {
      await addRule(deps, 'a-broken', { when: 'int(event.labels.nowhere) == 1' });
      const { event } = await one(deps);
      assert.deepEqual([event.outcome, event.rule], ['error', 'a-broken']);
      assert.equal(
        event.reason,
        'Rule a-broken could not be evaluated: character 1: event.labels.nowhere cannot be converted to an integer.',
      );
      await addRule(deps, 'b-clean');
      const second = await one(deps);
      assert.equal(second.event.outcome, 'fired');
      assert.deepEqual(
        decodeTrace((await getEvent(store.db, second.event.id)).trace)
          .steps.slice(0, 2)
          .map(({ rule, result }) => [rule, result]),
        [
          ['a-broken', 'error'],
          ['b-clean', 'passed'],
        ],
      );
    });

    test('F23: one poison of 1,000 events has the outcome error, others theirs; the summary adds up', async () => {
      await addRule(deps, 'clean-up', { when: 'event.source == "generic" && event.name == "DiskFull"' });
      const events = Array.from({ length: 1_000 }, (_, n) =>
        alert({ name: n % 10 === 0 ? 'DiskFull' : 'Noise', fingerprint: `f${n}` }),
      );
      // What no normaliser makes: it cannot even be written down.
      events[500] = alert({
        fingerprint: 'poison',
        labels: { size: 1n as never },
        annotations: { webhook: 'am', summary: 'poison' },
      });
      const logged: string[] = [];
      const onError = (name: string, error: unknown): void => void logged.push(`${name}: ${String(error)}`);
      const outcomes = await receive({ ...deps, onError }, events, WEBHOOK);
      const fault = 'TypeError: Do not know how to serialize a BigInt';
      assert.deepEqual(logged, [`1000 events of ${WEBHOOK.principal}: ${fault}`, `event of generic: ${fault}`]);
      const { reason, annotations } = outcomes[500]?.event ?? {};
      assert.deepEqual(
        [reason, annotations],
        ['The event could not be handled: an internal error of the service.', '{"webhook":"am"}'],
      );
      assert.deepEqual(await countEvents(store.db), {
        ignored: 900,
        matched: 0,
        suppressed: 0,
        gated: 0,
        fired: 99,
        error: 1,
      });
      assert.equal(await jobCount(store), 99);
    });

    test('a rule whose evaluation throws is logged with its event, and keeps no other rule from it', async () => {
      await addRule(deps, 'a-throws');
      await addRule(deps, 'b-fires');
      const [broken, whole] = await Promise.all(['a-throws', 'b-fires'].map((name) => deps.rules.rule(name)));
      assert.ok(broken !== undefined && whole !== undefined);
      const logged: string[] = [];
      const onError = (name: string, error: unknown): void => void logged.push(`${name}: ${String(error)}`);
      const rules = unindexed([{ ...broken, evaluate: fails }, whole]);
      const [found] = await evaluateBy({ ...deps, onError }, [alert()], WEBHOOK, {
        silences: [],
        rulesFor: () => rules,
      });
      const tried = found?.attempts.map(({ tried: { name, result, error } }) => [name, result, error]);
      assert.deepEqual(tried, [
        ['a-throws', 'error', 'its evaluation failed'],
        ['b-fires', 'matched', null],
      ]);
      const { source, name } = alert();
      assert.deepEqual(logged, [`rule a-throws, tried on ${source} ${name}: TypeError: a fault of the service`]);
    });

    test('a disabled or changed rule does not act in its old form, also before the change is announced', async () => {
      await addRule(deps, 'clean-up');
      const rules = new StaleRules(store, systemClock);
      const late = { ...deps, rules };
      await one(late);
      await store.write((tx) => switchRule(tx, 'clean-up', { enabled: false }));
      const [evaluated] = await evaluateRules(late, [alert({ fingerprint: 'disk-2' })], WEBHOOK);
      assert.ok(evaluated !== undefined);
      await assert.rejects(
        store.write((tx) => decideAndRecord(late, tx, evaluated)),
        (error) => error instanceof Failure && error.code === 'unavailable',
      );
      assert.equal((await one(late, { fingerprint: 'disk-2' })).event.outcome, 'ignored');
      await store.write((tx) => switchRule(tx, 'clean-up', { enabled: true }));
      rules.forget();
      await one(late, { fingerprint: 'disk-3' });
      const changed = {
        name: 'clean-up',
        when: 'event.source == "generic"',
        cooldownMs: null,
        approval: 'required',
        approvalTtlMs: null,
        action: TRUE,
        owners: ['rolf'],
        addedBy: 'rolf',
      } as const;
      await store.write((tx) => replaceRule(tx, changed));
      assert.equal((await one(late, { fingerprint: 'disk-4' })).event.outcome, 'gated');
      const again = { ...changed, action: { ...TRUE, command: ['another'] } };
      const versions: number[] = [];
      for (const each of [changed, again]) {
        await one(late, { fingerprint: `disk-${versions.length + 5}` });
        await store.write(async (tx) => {
          await deleteRule(tx, 'clean-up');
          versions.push((await insertRule(tx, each)).version);
        });
      }
      const { jobId } = await one(late, { fingerprint: 'disk-7' });
      assert.match((await getJob(store.db, jobId ?? '')).spec, /another/);
      assert.deepEqual(versions, [1, 1]);
      assert.equal(await jobCount(store), 6);
    });

    test('that could not be read has its row, with the outcome error', async () => {
      const [row] = await receiveUnreadable(deps, { source: 'grafana', labels: { peer_ip: '127.0.0.1' } }, [
        'The body is no JSON.',
      ]);
      const stored = await getEvent(store.db, row!.id);
      assert.deepEqual(
        [stored.source, stored.outcome, stored.reason, stored.labels],
        ['grafana', 'error', 'The body is no JSON.', '{"peer_ip":"127.0.0.1"}'],
      );
    });

    test('with characters that a database refuses is stored without them', async () => {
      const some = { name: 'Disk\0Full', fingerprint: 'a\0b', severity: '\0', labels: { a: 'b\0' } };
      const stored = await getEvent(store.db, (await one(deps, some)).event.id);
      assert.deepEqual([stored.name, stored.fingerprint, stored.severity], ['Disk\uFFFDFull', 'a\uFFFDb', '\uFFFD']);
      assert.deepEqual(JSON.parse(stored.labels), { a: 'b\0' });
    });
  });
}
