/** From an alert over its gate to the queue, over HTTP; and the ledger of events as a whole. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { localCaller } from '../../../src/domain/access/caller.ts';
import { invoke } from '../../../src/operations/core/invoke.ts';
import { OPERATIONS } from '../../../src/operations/table.ts';
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

test('The steps of an evaluation name the false term, as long as the rule has not changed', async (t) => {
  const program = await startProgram(t);
  const { reaction } = program.services;
  await addRule(reaction, 'a-night', {
    when: 'event.source == "generic" && event.name == "DiskFull" && event.labels.instance == "db2"',
  });
  await addRule(reaction, 'b-clean');
  // In another millisecond than the rule was made in.
  await program.store.write((tx) =>
    tx.db
      .updateTable('rules')
      .set((eb) => ({ updated_at: eb('updated_at', '-', 1_000) }))
      .execute(),
  );
  const [outcome] = await receive(reaction, [alert()], WEBHOOK);
  const steps = async (): Promise<string[]> => {
    const operation = OPERATIONS.find(({ id }) => id === 'event.trace');
    assert.ok(operation !== undefined);
    const answer = await invoke(program, operation, { caller: localCaller('ana'), raw: { id: outcome?.event.id } });
    assert.ok(answer.shape === 'body');
    return (answer.data as { steps: { why: string }[] }).steps.map(({ why }) => why);
  };
  assert.deepEqual((await steps()).slice(0, 2), [
    'It did not match. This term is false: event.labels.instance == "db2"',
    'It matched.',
  ]);
  await program.store.write((tx) =>
    tx.db
      .updateTable('rules')
      .set({ updated_at: Date.now() + 1 })
      .execute(),
  );
  assert.equal((await steps())[0], 'It did not match. The rule has changed since.');
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
