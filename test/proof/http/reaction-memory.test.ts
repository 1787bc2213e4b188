/** From an alert over its gate to the queue, over HTTP; and the ledger of events as a whole. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { receive } from '../../../src/reaction/receive.ts';
import { getJob } from '../../../src/store/jobs/jobs.ts';
import { putEvents } from '../../support/fixtures/events.ts';
import { heldMib } from '../../support/measure/held-memory.ts';
import { type Program, startProgram } from '../../support/program.ts';
import { addRule, alert, WEBHOOK } from '../../support/fixtures/reaction.ts';
import { send } from '../../support/scenario.ts';
import { callLocally } from '../../support/fixtures/workspaces.ts';

const DECISION = { method: 'POST', body: { decision: 'approve' } } as const;

for (const postgres of [false, true]) {
  const on = postgres ? 'PostgreSQL' : 'SQLite';
  test(`A gated alert names its event, rule and time, and runs once somebody else says yes, on ${on}`, async (t) => {
    const program = await startProgram(t, { postgres });
    const { reaction } = program.services;
    await addRule(reaction, 'clean-up', { approval: 'required', owners: ['rolf'] });
    const [outcome] = await receive(reaction, [alert()], WEBHOOK);
    const path = `/api/v1/approvals/${outcome?.approvalId}`;
    const asked = await send(program, 'readonly', { method: 'GET', path });
    const { received_at: matchedAt } = outcome?.event ?? { received_at: 0 };
    assert.deepEqual((asked.json as { data: { provenance: unknown } }).data.provenance, {
      origin: 'alert',
      alert: outcome?.event.id,
      rule: 'clean-up',
      matched_at: new Date(matchedAt).toISOString(),
    });
    // T28: who wrote the rule does not decide about what it asks for.
    const own = await program.token('approve', { owner: 'rolf' });
    const headers = { authorization: `Bearer ${own}` };
    assert.equal((await send(program, 'nobody', { ...DECISION, path: `${path}/decision`, headers })).status, 403);
    assert.equal((await send(program, 'approve', { ...DECISION, path: `${path}/decision` })).status, 200);
    const job = await getJob(program.store.db, outcome?.jobId ?? '');
    assert.deepEqual([job.state, job.runbook, job.trigger], ['queued', 'rule:clean-up', 'rule']);
  });
}

interface Step {
  readonly rule: string | null;
  readonly result: string;
  readonly why: string;
}

async function stepsOf(program: Program, id: string): Promise<string[]> {
  const { steps } = await callLocally<{ steps: Step[] }>(program, 'event.trace', { id });
  return steps.filter(({ why }) => !/passed/.test(why)).map(({ rule, result, why }) => `${rule}, ${result}: ${why}`);
}

const isDiskOf = (host: string) =>
  `event.source == "generic" && event.name == "DiskFull" && event.labels.instance == "${host}"`;

const unmatched = (rule: string, host: string) =>
  `${rule}, stopped: It did not match. This term is false: event.labels.instance == "${host}"`;

/** As if the rules had been made earlier, and those of `changed` changed later. */
async function ageRules(program: Program, changed: readonly string[] = []): Promise<void> {
  await program.store.write(async ({ db }) => {
    const ago = Date.now() - 1_000;
    await db.updateTable('rules').set({ created_at: ago, updated_at: ago }).execute();
    if (changed.length > 0)
      await db
        .updateTable('rules')
        .set({ updated_at: Date.now() + 1_000 })
        .where('name', 'in', changed)
        .execute();
  });
  program.services.reaction.rules.forget();
}

test('The steps of an evaluation name each rule and the false term, as long as the rule has not changed', async (t) => {
  const program = await startProgram(t);
  const { reaction } = program.services;
  await addRule(reaction, 'a-night', { when: isDiskOf('db2') });
  await addRule(reaction, 'a-other-source', { when: 'event.source == "check"' });
  await addRule(reaction, 'b-day', { when: isDiskOf('db3') });
  await addRule(reaction, 'c-clean');
  await addRule(reaction, 'd-behind');
  await ageRules(program);
  const [outcome] = await receive(reaction, [alert()], WEBHOOK);
  const id = outcome?.event.id ?? assert.fail();
  const rest = (await stepsOf(program, id)).slice(2);
  assert.deepEqual((await stepsOf(program, id)).slice(0, 3), [
    unmatched('a-night', 'db2'),
    unmatched('b-day', 'db3'),
    'c-clean, passed: It matched.',
  ]);
  assert.equal(rest.at(-1), 'd-behind, not reached: An earlier rule had decided.');
  await ageRules(program, ['b-day']);
  const changed = 'b-day, stopped: It did not match. The rule has changed since.';
  assert.deepEqual(await stepsOf(program, id), [unmatched('a-night', 'db2'), changed, ...rest]);
  await program.store.write(({ db }) => db.deleteFrom('rules').where('name', 'in', ['a-night', 'd-behind']).execute());
  reaction.rules.forget();
  assert.deepEqual(await stepsOf(program, id), [
    changed,
    ...rest.slice(0, -1),
    'null, stopped: More rules that did not match and were changed or removed since: 1.',
    'null, not reached: More rules that were not tried and were changed or removed since: 1.',
  ]);
  // A rule that is newer than the event was not tried.
  await addRule(reaction, 'b-new', { when: isDiskOf('db4') });
  reaction.rules.forget();
  assert.ok(!(await stepsOf(program, id)).some((step) => step.startsWith('b-new')));
});

test('Annotations are in the trace on the machine itself, and in no view of the event', async (t) => {
  const program = await startProgram(t);
  const [outcome] = await receive(
    program.services.reaction,
    [alert({ annotations: { summary: 'nearly full' } })],
    WEBHOOK,
  );
  const id = outcome?.event.id ?? assert.fail();
  assert.deepEqual((await callLocally<{ annotations: unknown }>(program, 'event.trace', { id })).annotations, {
    summary: 'nearly full',
  });
  const shown = await send(program, 'readonly', { method: 'GET', path: `/api/v1/events/${id}` });
  assert.equal(shown.status, 200);
  assert.doesNotMatch(JSON.stringify(shown.json), /nearly full/);
});

const ROWS = 50_000;
const ROWS_PER_LOOK = 2_000;

async function fill({ store }: Program): Promise<void> {
  for (let done = 0; done < ROWS; done += 5_000)
    await putEvents(
      store,
      Array.from({ length: 5_000 }, (_, n) => ({ name: `n${done + n}` })),
    );
}

test(`T53: All of ${ROWS} events come once, newest first, in bounded memory, while others are answered`, async (t) => {
  const program = await startProgram(t);
  await fill(program);
  const headers = { authorization: `Bearer ${program.tokens.readonly}` };
  await send(program, 'readonly', { method: 'GET', path: '/api/v1/events' });
  const before = heldMib();
  let most = before;
  let rows = 0;
  let looks = 0;
  let tail = '';
  // Behind every id.
  let last = 'evt_~';
  const response = await fetch(`${program.url}/api/v1/events?limit=0`, { headers });
  const others: Promise<unknown>[] = [];
  for await (const chunk of response.body ?? []) {
    tail += Buffer.from(chunk).toString('latin1');
    for (
      let match = /"id":"(evt_[0-9a-z]{26})"/.exec(tail);
      match !== null;
      match = /"id":"(evt_[0-9a-z]{26})"/.exec(tail)
    ) {
      const id = match[1] ?? '';
      assert.ok(id < last, 'newest first, and none twice');
      last = id;
      rows += 1;
      tail = tail.slice(match.index + match[0].length);
    }
    if (rows >= looks * ROWS_PER_LOOK) {
      looks += 1;
      most = Math.max(most, heldMib());
    }
    if (others.length < 5) others.push(send(program, 'readonly', { method: 'GET', path: '/api/v1/events/summary' }));
  }
  assert.equal(rows, ROWS);
  const message = `${(most - before).toFixed(1)} MiB were held for the list`;
  t.diagnostic(message);
  assert.ok(most - before < 8, message);
  for (const answer of await Promise.all(others)) assert.equal((answer as { status: number }).status, 200);
});
