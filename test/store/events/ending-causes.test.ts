/** Who made fire what a mute or a silence held is in the asking chain of what its end starts. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Subject } from '../../../src/domain/events/causes.ts';
import { newId } from '../../../src/lib/id.ts';
import { toJson } from '../../../src/lib/json.ts';
import { hookSender } from '../../../src/operations/events/hooks-in.ts';
import type { StepAction } from '../../../src/domain/rules/step-actions.ts';
import { recordTransitions } from '../../../src/reaction/check-transition.ts';
import { hostEvent } from '../../../src/reaction/host-event.ts';
import { endMutes } from '../../../src/reaction/mute-endings.ts';
import { evaluateOutcome, recordOutcome } from '../../../src/reaction/outcome.ts';
import { receive } from '../../../src/reaction/receive.ts';
import { recordRunOutcome } from '../../../src/reaction/run-outcome.ts';
import { endSilences } from '../../../src/reaction/silence-endings.ts';
import type { ReactionDeps } from '../../../src/reaction/types.ts';
import { insertToken } from '../../../src/store/access/tokens.ts';
import { causersOf, leaveCause } from '../../../src/store/events/causes.ts';
import { getJob } from '../../../src/store/jobs/jobs.ts';
import { insertMute } from '../../../src/store/rules/mutes.ts';
import { insertSilence } from '../../../src/store/rules/silences.ts';
import type { Store } from '../../../src/store/store.ts';
import { insertRun } from '../../../src/store/workflows/runs.ts';
import { insertWorkspace } from '../../../src/store/workspaces/workspaces.ts';
import { addRule, alert, reactionOf, WEBHOOK } from '../../support/fixtures/reaction.ts';
import { workspaceRow } from '../../support/fixtures/workspace-row.ts';
import { enqueue, ENGINES, freshStore, makeToken } from '../engine-fixture.ts';

interface Firing {
  /** Of the event. */
  readonly name: string;
  /** Each is changed by an owner of its name. */
  readonly subjects: readonly Subject[];
  /** Who else is behind the event. */
  readonly owners: readonly string[];
  readonly fire: (deps: ReactionDeps) => Promise<unknown>;
}

function goesDown(deps: ReactionDeps): Promise<void> {
  const transition = { status: 'firing', observedAt: [1, 2, 3] } as const;
  const rest = { durationMs: 1, detail: 'unreachable', netgroup: 'dc', keep: () => Promise.resolve(true) } as const;
  return recordTransitions(deps, [{ check: 'db', target: 'a', transition, ...rest }]);
}

async function endOf(deps: ReactionDeps, id: string, drift: 'firing' | null): Promise<void> {
  const ended = { state: 'failed', finished_at: Date.now(), drift_status: drift } as const;
  await deps.store.write(({ db }) => db.updateTable('jobs').set(ended).where('id', '=', id).execute());
  const job = await getJob(deps.store.db, id);
  await recordOutcome(deps, job, await evaluateOutcome(deps, job));
}

async function endRun(deps: ReactionDeps): Promise<void> {
  const { store } = deps;
  const action: StepAction = { kind: 'command', command: ['true'], inventory: 'lab', limit: null, timeout: null };
  const step = { name: 'two', needs: [], when: null, approval: 'none', approvalTtlMs: null } as const;
  const definition = toJson({ steps: [{ ...step, action }] });
  const origin = {
    trigger: 'api',
    origin: 'manual',
    event_id: null,
    rule: null,
    matched_at: null,
    schedule: null,
  } as const;
  const order = { id: newId('wfr', Date.now()), workflow: 'wf', definition, ...origin, resumes: null, because: null };
  const refused = { name: 'two', state: 'failed', job_id: null, taken_from: null, reason: null } as const;
  const run = await store.write((tx) =>
    insertRun(tx, { ...order, requested_by: 'ken', owners: toJson(['ken']) }, [refused]),
  );
  const ended = { state: 'failed', finished_at: Date.now() } as const;
  await store.write(({ db }) => db.updateTable('workflow_runs').set(ended).where('id', '=', run.id).execute());
  await recordRunOutcome(deps, { ...run, ...ended });
}

const SPEC = '{"inventory":"lab","command":["true"]}';

const FIRINGS: Readonly<Record<string, Firing>> = {
  check: { name: 'db', subjects: ['check:db', 'netgroup:dc'], owners: [], fire: goesDown },
  webhook: {
    name: 'DiskFull',
    subjects: ['webhook:am'],
    owners: [],
    fire: (deps) => receive(deps, [alert({ annotations: { webhook: 'am' } })], hookSender({ name: 'am' })),
  },
  job: {
    name: 'command:true',
    subjects: ['source:ops', 'inventory:lab'],
    owners: ['ken'],
    fire: async (deps) => endOf(deps, await enqueue(deps.store, { owners: ['ken'], source: 'ops', spec: SPEC }), null),
  },
  run: { name: 'workflow:wf', subjects: ['inventory:lab'], owners: ['ken'], fire: endRun },
  drift: {
    name: 'net',
    subjects: ['workspace:net', 'source:ops'],
    owners: [],
    async fire(deps) {
      await deps.store.write((tx) => insertWorkspace(tx, workspaceRow('net', { source: 'ops' })));
      const of = { kind: 'drift', runbook: 'drift:net', workspace: 'net', source: 'ops' } as const;
      await endOf(deps, await enqueue(deps.store, { ...of, owners: ['ken'] }), 'firing');
    },
  },
  host: {
    name: 'clean',
    subjects: [],
    owners: ['ken'],
    async fire(deps) {
      await deps.store.write((tx) => insertToken(tx, makeToken({ name: 'db1', owner: 'ken', scope: 'host' })));
      const request = { request: 'clean', reason: null, status: 'firing', metadata: {} };
      await receive(deps, [hostEvent('db1', request)], { ...WEBHOOK, principal: 'db1', via: 'api', trigger: 'host' });
    },
  },
};

const OVER = { created_by: 'jo', created_at: Date.now() - 60_000, expires_at: Date.now() - 1, ended_at: null } as const;

async function chain(store: Store): Promise<readonly string[]> {
  const rows = await store.db.selectFrom('approvals').select('owners').execute();
  assert.equal(rows.length, 1);
  return (JSON.parse(rows[0]?.owners ?? '') as string[]).toSorted();
}

function noted({ db }: Store): Promise<unknown> {
  return db.selectFrom('causes').selectAll().orderBy('subject').orderBy('owner').execute();
}

async function endMuteOf(deps: ReactionDeps, name: string): Promise<void> {
  const mute = { id: newId('mute', Date.now()), scope_kind: 'alert', scope_value: name, created_via: 'api' } as const;
  await deps.store.write((tx) => insertMute(tx, { ...mute, reason: null, ...OVER }));
  assert.equal(await endMutes(deps), 1);
}

for (const engine of ENGINES) {
  describe(`Causes of what was held on ${engine.name}`, () => {
    const its = freshStore(engine);

    for (const [kind, { name, subjects, owners, fire }] of Object.entries(FIRINGS))
      test(`T84: who made fire what a mute held is in the chain of its end: ${kind}`, async () => {
        const { store } = its;
        const deps = reactionOf(store);
        for (const subject of subjects) await store.write((tx) => leaveCause(tx, subject, subject));
        await fire(deps);
        await addRule(deps, 'after', { when: 'event.source == "mute"', approval: 'required' });
        const before = await noted(store);
        await endMuteOf(deps, name);
        assert.deepEqual(await chain(store), [...subjects, ...owners, 'jo', 'rolf'].toSorted());
        assert.deepEqual(await noted(store), before);
      });

    test('T84: the end of a silence has in its chain who made fire what it stopped', async () => {
      const { store } = its;
      const deps = reactionOf(store);
      await addRule(deps, 'stopped', { when: 'event.source == "check"' });
      const silence = { rule: null, when_text: 'event.source == "check"', reason: 'x', created_by: 'jo' };
      const open = { created_at: OVER.created_at, expires_at: Date.now() + 60_000 };
      const { id } = await store.write((tx) => insertSilence(tx, { ...silence, ...open }));
      deps.rules.forget();
      await store.write((tx) => leaveCause(tx, 'check:db', 'ana'));
      await goesDown(deps);
      await addRule(deps, 'after', { when: 'event.source == "silence"', approval: 'required' });
      const over = { expires_at: Date.now() - 1 };
      await store.write(({ db }) => db.updateTable('silences').set(over).where('id', '=', id).execute());
      assert.equal(await endSilences(deps), 1);
      assert.deepEqual(await chain(store), ['ana', 'jo', 'rolf']);
    });

    test('T84: by the end of a mute no one leaves the chain of what it held, or stays longer', async () => {
      const { store } = its;
      const deps = reactionOf(store);
      for (const owner of ['ana', 'cem']) await store.write((tx) => leaveCause(tx, 'check:db', owner));
      await goesDown(deps);
      await addRule(deps, 'after', { when: 'event.source == "mute"', approval: 'required' });
      // All who caused the one event, not only the last of them; and who came since.
      await store.write((tx) => leaveCause(tx, 'check:db', 'eve'));
      await endMuteOf(deps, 'db');
      assert.deepEqual(await chain(store), ['ana', 'cem', 'eve', 'jo', 'rolf']);
      const next = (): Promise<readonly string[]> => store.write((tx) => causersOf(tx, ['check:db']));
      assert.deepEqual((await next()).toSorted(), ['ana', 'cem', 'eve']);
      assert.deepEqual(await next(), ['eve']);
    });
  });
}
