/** A person who can write the database but has no key does not get out of the sandbox. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JobEvent } from '../../../src/domain/jobs/job.ts';
import { leavesSandbox } from '../../../src/domain/jobs/order.ts';
import { toJson } from '../../../src/lib/json.ts';
import { checkTag, isTagged, tagOf } from '../../../src/store/engine/tags/tags.ts';
import { TAGGED_ALL, TAGGED_FEW, TEST_RING } from '../../support/seal.ts';
import type { JobRow } from '../../../src/store/schema/schema.ts';
import { openFixture, type Fixture } from '../../support/fixtures/installation.ts';

const ENDED = ['succeeded', 'failed', 'cancelled', 'interrupted'];
const SPEC = (word: string): string =>
  JSON.stringify({ inventory: 'localhost', limit: null, command: ['/bin/echo', word], egressPorts: [] });

/** What somebody does who can write the database alone. */
async function change(fixture: Fixture, id: string, columns: Partial<JobRow>): Promise<void> {
  await fixture.store.write(
    async ({ db }) => void (await db.updateTable('jobs').set(columns).where('id', '=', id).execute()),
  );
}

function printed(events: readonly JobEvent[]): string {
  return events.map((event) => (event.type === 'log' ? event.text : '')).join('\n');
}

async function assertRefused(fixture: Fixture, id: string, why: RegExp): Promise<void> {
  assert.equal((await fixture.waitFor(id, ENDED)).state, 'failed');
  const text = printed(await fixture.events(id));
  assert.match(text, why);
  assert.match(text, /Nothing was run/);
  assert.doesNotMatch(text, /forged/);
}

for (const postgres of [false, true]) {
  describe(`T65: privileged orders on ${postgres ? 'PostgreSQL' : 'SQLite'}`, () => {
    test('T65: an order that was made or changed in the database never runs', async (t) => {
      const fixture = await openFixture(t, { postgres });
      const honest = await fixture.queue({ command: ['/bin/echo', 'honest'], privileged: true });
      const changed = await fixture.queue({ command: ['/bin/echo', 'before'], privileged: true });
      const raised = await fixture.queue({ command: ['/bin/echo', 'before'], privileged: false });
      const moved = await fixture.queue({ command: ['/bin/echo', 'before'], privileged: false });
      const { order_tag, order_key_id } = await fixture.row(honest);
      await change(fixture, changed, { spec: SPEC('forged') });
      await change(fixture, raised, { privileged: 1, spec: SPEC('forged') });
      await change(fixture, moved, { privileged: 1, spec: (await fixture.row(honest)).spec, order_tag, order_key_id });
      await fixture.serve();
      assert.equal((await fixture.waitFor(honest, ENDED)).state, 'succeeded');
      await assertRefused(fixture, changed, /job .* was changed after it was written/);
      await assertRefused(fixture, raised, /job .* was changed after it was written/);
      await assertRefused(fixture, moved, /job .* was changed after it was written/);
    });
  });
}

test('T65: the tag of a privileged order covers its node and what it repeats, each in its place', () => {
  const order: Parameters<typeof tagOf<'jobs'>>[2] = {
    id: 'job_a',
    kind: 'command',
    initial_state: 'queued',
    runbook: 'command:true',
    source: null,
    trigger: 'cli',
    workspace: null,
    concurrency_key: null,
    privileged: 1,
    created_at: 1,
    requested_by: 'ana',
    owners: toJson(['ana']),
    redrive_of: null,
    spec: SPEC('x'),
    timeout_ms: 1,
    rerun_of: null,
    node: null,
    plan_artifact_id: null,
    pinned: null,
    because: null,
  };
  const variants = [
    order,
    { ...order, because: 'x' },
    { ...order, rerun_of: 'x' },
    { ...order, node: 'x' },
    { ...order, rerun_of: 'x', node: 'x' },
    { ...order, rerun_of: 'x', node: 'y' },
    { ...order, plan_artifact_id: 'x' },
    { ...order, node: 'x', plan_artifact_id: 'x' },
    { ...order, pinned: toJson({ settings: {} }) },
    { ...order, plan_artifact_id: 'x', pinned: toJson({ settings: {} }) },
  ];
  for (const [i, tagged] of variants.entries())
    for (const [j, stored] of variants.entries()) {
      const row = { ...stored, ...tagOf(TEST_RING, 'jobs', tagged) };
      assert.equal(isTagged(TEST_RING, 'jobs', row), i === j, `${i} as ${j}`);
    }
});

test('T65: a redrive makes no privileged order out of one that has no tag, and keeps one that has', async (t) => {
  const fixture = await openFixture(t);
  const honest = await fixture.queue({ command: ['/bin/echo', 'honest'], privileged: true });
  const forged = await fixture.queue({ command: ['/bin/echo', 'before'], privileged: false });
  await change(fixture, honest, { state: 'interrupted' });
  await change(fixture, forged, { state: 'interrupted', privileged: 1 });
  const pairs = await fixture.call<{ old_job_id: string; new_job_id: string }[]>('job.redrive', {});
  assert.deepEqual(
    pairs.map((pair) => pair.old_job_id),
    [honest],
  );
  await fixture.serve();
  assert.equal((await fixture.waitFor(pairs[0]!.new_job_id, ENDED)).state, 'succeeded');
});

test('T65: waiting orders of an earlier build are tagged once, by the first start', async (t) => {
  const fixture = await openFixture(t);
  const waiting = await fixture.queue({ command: ['/bin/echo', 'earlier'], privileged: true });
  await change(fixture, waiting, { order_tag: null, order_key_id: null });
  await fixture.store.write(async ({ db }) => void (await db.deleteFrom('ledger_keying').execute()));
  const first = await fixture.serve();
  assert.equal((await fixture.waitFor(waiting, ENDED)).state, 'succeeded');
  const row = await fixture.store.db
    .selectFrom('ledger')
    .select('detail')
    .where('operation', '=', 'ledger.key')
    .executeTakeFirstOrThrow();
  assert.equal((JSON.parse(row.detail) as { tagged_jobs: number }).tagged_jobs, 1);
  await first.stop();
  const late = await fixture.queue({ command: ['/bin/echo', 'before'], privileged: true });
  await change(fixture, late, { order_tag: null, order_key_id: null, spec: SPEC('forged') });
  await fixture.serve();
  await assertRefused(fixture, late, /has no tag/);
});

const ACTION = { kind: 'command', command: ['/bin/true'], inventory: 'localhost', limit: null, timeout: null } as const;

test('T65: a privileged or writable action of a rule or schedule needs the tag of the machine', async () => {
  const rule = {
    name: 'clean',
    when_text: 'true',
    cooldown_ms: null,
    approval: 'required',
    approval_ttl_ms: null,
    action: toJson({ ...ACTION, privileged: true }),
    added_by: 'ana',
    one_tap: 0,
    owners: toJson(['ana']),
    bounded_values: 1,
    summary: null,
    because: null,
  } as const;
  const schedule = {
    ...rule,
    cron: '0 3 * * *',
    timezone: 'UTC',
    runbook: 'command:localhost',
    created_at: 1,
    action: toJson({ ...ACTION, writable: ['/srv'] }),
  };
  const none = { order_tag: null, order_key_id: null };
  const [ruleTag, scheduleTag] = [tagOf(TEST_RING, 'rules', rule), tagOf(TEST_RING, 'schedules', schedule)];
  await checkTag(TAGGED_ALL, 'rules', { ...rule, ...ruleTag });
  await checkTag(TAGGED_ALL, 'schedules', { ...schedule, ...scheduleTag });
  for (const other of [
    none,
    { ...ruleTag, approval: 'none' as const },
    { ...ruleTag, when_text: 'false' },
    { ...ruleTag, owners: toJson(['eve']) },
    scheduleTag,
  ])
    await assert.rejects(checkTag(TAGGED_FEW, 'rules', { ...rule, ...other }), { code: 'forbidden' });
  for (const other of [
    none,
    { ...scheduleTag, cron: '* * * * *' },
    { ...scheduleTag, owners: toJson([]) },
    { ...scheduleTag, action: toJson({ ...ACTION, writable: ['/etc'] }) },
  ])
    await assert.rejects(checkTag(TAGGED_FEW, 'schedules', { ...schedule, ...other }), { code: 'forbidden' });
  const plain = { ...rule, ...none, action: toJson(ACTION) };
  await checkTag(TAGGED_FEW, 'rules', plain);
  await assert.rejects(checkTag(TAGGED_ALL, 'rules', plain), /Integrity: rule clean has no tag/);
});

test('T65: an order is privileged however its JSON says so', () => {
  for (const text of [
    '{"privileged":true}',
    '{"privil\\u0065ged":true}',
    '{"writable":["/srv"]}',
    '{"writable":"/srv"}',
    '{"privileged":1}',
    '{"privileged":',
  ])
    assert.ok(leavesSandbox(false, text), text);
  for (const text of ['{}', '{"privileged":false}', '{"writable":[]}', '{"command":["privileged"]}'])
    assert.equal(leavesSandbox(false, text), false, text);
});
