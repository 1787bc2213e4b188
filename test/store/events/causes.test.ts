/** Who changed what an event depends on is in the asking chain of what it starts. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { localCaller } from '../../../src/domain/access/caller.ts';
import { CAUSE_KINDS, type CauseKind, subjectOf } from '../../../src/domain/events/causes.ts';
import { newId } from '../../../src/lib/id.ts';
import { toJson } from '../../../src/lib/json.ts';
import { hookSender } from '../../../src/operations/events/hooks-in.ts';
import { recordWrite } from '../../../src/operations/core/reply.ts';
import { isWrite, type WriteOperation } from '../../../src/operations/core/operation.ts';
import { OPERATIONS } from '../../../src/operations/table.ts';
import { recordTransitions } from '../../../src/reaction/check-transition.ts';
import { evaluateOutcome, recordOutcome } from '../../../src/reaction/outcome.ts';
import { receive } from '../../../src/reaction/receive.ts';
import { recordRunOutcome } from '../../../src/reaction/run-outcome.ts';
import { endSilences } from '../../../src/reaction/silence-endings.ts';
import { endMutes } from '../../../src/reaction/mute-endings.ts';
import type { ReactionDeps } from '../../../src/reaction/types.ts';
import { causersOf, handCauses, leaveCause } from '../../../src/store/events/causes.ts';
import { tagOf } from '../../../src/store/engine/tags/tags.ts';
import { getJob } from '../../../src/store/jobs/jobs.ts';
import { insertMute } from '../../../src/store/rules/mutes.ts';
import { insertSilence } from '../../../src/store/rules/silences.ts';
import type { Store } from '../../../src/store/store.ts';
import { addRule, alert, one, reactionOf } from '../../support/fixtures/reaction.ts';
import { enqueue, ENGINES, freshStore } from '../engine-fixture.ts';

const ANA = localCaller('ana');

/** Something happens that depends on the thing of this name; its event has the given source. */
type Happening = (deps: ReactionDeps, name: string) => Promise<void>;

const check =
  (netgroup: (name: string) => string | null): Happening =>
  (deps, name) =>
    recordTransitions(deps, [
      {
        check: name,
        target: 'a',
        transition: { status: 'firing', observedAt: [1, 2, 3] },
        durationMs: 1,
        detail: 'unreachable',
        netgroup: netgroup(name),
        keep: () => Promise.resolve(true),
      },
    ]);

async function endOf(deps: ReactionDeps, id: string): Promise<void> {
  const { store } = deps;
  const ended = { state: 'failed', finished_at: Date.now() } as const;
  await store.write(({ db }) => db.updateTable('jobs').set(ended).where('id', '=', id).execute());
  const job = await getJob(store.db, id);
  await recordOutcome(deps, job, await evaluateOutcome(deps, job));
}

async function endJob(deps: ReactionDeps, name: string): Promise<void> {
  const spec = JSON.stringify({ inventory: name, command: ['true'], limit: null });
  const id = await enqueue(deps.store, { owners: ['jo'], workspace: name, source: name, spec });
  await endOf(deps, id);
}

async function runOf(store: Store, id: string, jobId: string | null): Promise<void> {
  await store.write(async ({ db, ring }) => {
    const order = {
      id,
      workflow: 'patch',
      definition: toJson({ steps: [] }),
      state: 'cancelled',
      trigger: 'api',
      origin: 'manual',
      event_id: null,
      rule: null,
      matched_at: null,
      schedule: null,
      requested_by: 'jo',
      owners: toJson(['jo']),
      resumes: null,
      because: null,
      created_at: Date.now(),
      finished_at: Date.now(),
      cancel_requested_at: null,
      unfinished: 0,
      outcome_event_id: null,
    } as const;
    await db
      .insertInto('workflow_runs')
      .values({ ...order, ...tagOf(ring, 'workflow_runs', order) })
      .execute();
    if (jobId === null) return;
    const step = { run_id: id, name: 'one', position: 0, state: 'started', job_id: jobId, taken_from: null } as const;
    await db
      .insertInto('workflow_steps')
      .values({ ...step, reason: null })
      .execute();
  });
}

async function endRun(deps: ReactionDeps, id: string): Promise<void> {
  const run = await deps.store.db.selectFrom('workflow_runs').selectAll().where('id', '=', id).executeTakeFirst();
  assert.ok(run !== undefined);
  await recordRunOutcome(deps, run);
}

const OVER = { created_by: 'jo', created_at: Date.now() - 60_000, expires_at: Date.now() - 1, ended_at: null } as const;

/** Every event that depends on something, by the source of the event. */
const HAPPENINGS: Readonly<Record<string, Partial<Record<CauseKind, Happening>>>> = {
  check: { check: check(() => null), netgroup: check((name) => name) },
  generic: { webhook: async (deps, name) => void (await receive(deps, [alert()], hookSender({ name }))) },
  'job-outcome': {
    workspace: endJob,
    source: endJob,
    inventory: endJob,
    async job(deps, name) {
      await enqueue(deps.store, { id: name, owners: ['jo'], spec: '{"inventory":"localhost","command":["true"]}' });
      await endOf(deps, name);
    },
    async run(deps, name) {
      await runOf(deps.store, name, null);
      await endRun(deps, name);
    },
    async node(deps, name) {
      const id = await enqueue(deps.store, { spec: '{"inventory":"localhost","command":["true"]}', owners: ['jo'] });
      await deps.store.write((tx) => handCauses(tx, [subjectOf('node', name)], subjectOf('job', id)));
      await endOf(deps, id);
    },
  },
  mute: {
    async mute(deps, name) {
      await one(deps);
      const scope = { scope_kind: 'alert', scope_value: 'DiskFull', created_via: 'api', reason: null } as const;
      await deps.store.write((tx) => insertMute(tx, { id: name, ...scope, ...OVER }));
      assert.equal(await endMutes(deps), 1);
    },
  },
  silence: {
    async silence(deps, name) {
      const when = { rule: null, when_text: 'event.source == "generic"', reason: 'x' } as const;
      const open = { created_by: 'jo', created_at: OVER.created_at, expires_at: Date.now() + 60_000 };
      await deps.store.write(async (tx) => {
        const { id } = await insertSilence(tx, { ...when, ...open });
        await tx.db.updateTable('silences').set({ id: name }).where('id', '=', id).execute();
      });
      deps.rules.forget();
      await one(deps);
      const over = { expires_at: Date.now() - 1 };
      await deps.store.write(({ db }) => db.updateTable('silences').set(over).where('id', '=', name).execute());
      assert.equal(await endSilences(deps), 1);
    },
  },
};

/** The asking chain of the newest request of the rule. */
async function chain(store: Store): Promise<readonly string[]> {
  const [row] = await store.db.selectFrom('approvals').select('owners').orderBy('id', 'desc').limit(1).execute();
  assert.ok(row !== undefined, 'the event asked for nothing');
  return JSON.parse(row.owners) as string[];
}

interface Pair {
  readonly operation: WriteOperation;
  readonly kind: CauseKind;
  readonly source: string;
  readonly happens: Happening;
}

/** Each operation that writes with each event that depends on what it changes. */
const PAIRS: readonly Pair[] = OPERATIONS.filter(isWrite).flatMap((operation) => {
  const { causes } = operation;
  if ('none' in causes) return [];
  return Object.entries(HAPPENINGS).flatMap(([source, byKind]) => {
    const happens = byKind[causes.of];
    return happens === undefined ? [] : [{ operation, kind: causes.of, source, happens }];
  });
});

describe('Causes', () => {
  test('T84: each operation that writes has an event that depends on it, or says why none does', () => {
    for (const { id, causes, effect } of OPERATIONS.filter(isWrite)) {
      if ('none' in causes) assert.match(causes.none, /^[A-Z].{20,}\.$/, id);
      else
        assert.ok(
          PAIRS.some(({ operation }) => operation.id === id),
          `no event depends on what ${id} changes`,
        );
      assert.ok(effect === 'write' || 'none' in causes, id);
    }
    for (const kind of CAUSE_KINDS)
      assert.ok(
        PAIRS.some((pair) => pair.kind === kind),
        kind,
      );
  });
});

for (const engine of ENGINES) {
  describe(`Causes on ${engine.name}`, () => {
    const its = freshStore(engine);

    test('T84: who called an operation is in the chain of each event that depends on what it changed', async () => {
      for (const { operation, kind, source, happens } of PAIRS) {
        const deps = reactionOf(its.store);
        const name = newId('job', Date.now());
        const rule = newId('evt', Date.now()).toLowerCase().replaceAll('_', '-');
        await addRule(deps, rule, { when: `event.source == "${source}"`, approval: 'required' });
        const audit = { target: name, detail: {} };
        await its.store.write(async (tx) => {
          if ('by' in operation.causes) await leaveCause(tx, subjectOf(kind, name), ANA.owner);
          else await recordWrite(tx, operation, ANA, audit);
        });
        await happens(deps, name);
        assert.ok((await chain(its.store)).includes(ANA.owner), `${operation.id}, then an event of ${source}`);
        await its.store.write(({ db }) => db.deleteFrom('rules').execute());
      }
    });

    test('T84: the last one stays, and those before leave with the first event that no change preceded', async () => {
      const { store } = its;
      const change = (owner: string): Promise<void> => store.write((tx) => leaveCause(tx, 'check:db', owner));
      const event = (): Promise<readonly string[]> => store.write((tx) => causersOf(tx, ['check:db', 'netgroup:dc']));
      assert.deepEqual(await event(), []);
      await change('ana');
      await change('ben');
      await change('ana');
      assert.deepEqual([...(await event())].toSorted(), ['ana', 'ben']);
      assert.deepEqual(await event(), ['ana']);
      await change('ben');
      assert.deepEqual([...(await event())].toSorted(), ['ana', 'ben']);
      assert.deepEqual(await event(), ['ben']);
      assert.deepEqual(await event(), ['ben']);
    });

    test('T84: the end of a run depends on all that the ends of its jobs depend on', async () => {
      const deps = reactionOf(its.store);
      await addRule(deps, 'asks', { approval: 'required', when: 'event.name == "workflow:patch"' });
      const spec = '{"inventory":"lab","command":["true"]}';
      const job = await enqueue(its.store, { owners: ['jo'], workspace: 'net', source: 'ops', spec });
      const run = newId('wfr', Date.now());
      await runOf(its.store, run, job);
      const changes = { 'inventory:lab': 'ana', 'workspace:net': 'ben', 'source:ops': 'eve' } as const;
      for (const subject of ['inventory:lab', 'workspace:net', 'source:ops'] as const)
        await its.store.write((tx) => leaveCause(tx, subject, changes[subject]));
      await endRun(deps, run);
      assert.deepEqual((await chain(its.store)).toSorted(), ['ana', 'ben', 'eve', 'jo', 'rolf']);
    });

    test('T84: the events of one message are one: none of them loses a cause to the one before it', async () => {
      const deps = reactionOf(its.store);
      await addRule(deps, 'asks', { approval: 'required' });
      for (const owner of ['ana', 'ben']) await its.store.write((tx) => leaveCause(tx, 'webhook:am', owner));
      await receive(deps, [alert({ fingerprint: 'a' }), alert({ fingerprint: 'b' })], hookSender({ name: 'am' }));
      const rows = await its.store.db.selectFrom('approvals').select('owners').execute();
      assert.deepEqual(
        rows.map(({ owners }) => (JSON.parse(owners) as string[]).toSorted()),
        [
          ['ana', 'ben', 'rolf'],
          ['ana', 'ben', 'rolf'],
        ],
      );
    });
  });
}
