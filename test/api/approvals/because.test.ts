/** Why something is asked for, in the words of who asks: for who decides about it, and for who looks back. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isWrite } from '../../../src/operations/core/operation.ts';
import { OPERATIONS } from '../../../src/operations/table.ts';
import type { Projected } from '../../../src/views/views.ts';
import { type HookFixture, openHookFixture } from '../../support/fixtures/hooks.ts';
import { tamper } from '../../support/store/rewrite.ts';

const WHY = 'OPS-211: the disk of web1 fills up';
const ORDER = { inventory: 'localhost', command: ['true'] };
const STEPS = `steps:
  - name: only
    approval: required
    command: ["true"]
    inventory: localhost
`;

async function because(fixture: HookFixture, id: string): Promise<string | undefined> {
  const job: Projected<'job.get'> = await fixture.call('job.get', { id });
  return job.because;
}

async function run(fixture: HookFixture, operation: string, raw: object): Promise<string> {
  const queued: Projected<'job.enqueued'> = await fixture.call(operation, raw);
  return queued.job_id;
}

test('Each operation that orders a job takes a because, and no other one does', () => {
  const takes = OPERATIONS.filter(({ input }) => 'because' in input.shape).map(({ id }) => id);
  const orders = OPERATIONS.filter(
    (row) => isWrite(row) && row.effect === 'enqueue' && (row.mayMakeNone !== true || row.id === 'config.apply'),
  );
  assert.ok(takes.includes('command.run') && takes.includes('workflow.run') && takes.includes('job.redrive'));
  assert.deepEqual(
    takes,
    orders.map(({ id }) => id),
  );
});

test('A because is shown with its job and in the ledger, and is not that of a job which repeats it', async (t) => {
  const fixture = await openHookFixture(t);
  const first = await run(fixture, 'command.run', { ...ORDER, because: WHY });
  assert.equal(await because(fixture, first), WHY);
  const plain = await run(fixture, 'command.run', ORDER);
  const shown = (await fixture.call('job.get', { id: plain })) as object;
  assert.equal('because' in (JSON.parse(JSON.stringify(shown)) as object), false);
  await fixture.call('job.cancel', { id: first });
  const again = await run(fixture, 'job.rerun', { id: first });
  assert.equal(await because(fixture, again), undefined);
  const asked = await run(fixture, 'job.rerun', { id: first, because: 'it was cancelled' });
  assert.equal(await because(fixture, asked), 'it was cancelled');
  const rows = (await fixture.call('audit.list', {})) as Projected<'audit.list'>;
  const of = (target: string) => rows.find((row) => row.target === target && row.operation.startsWith('job.rerun'));
  assert.deepEqual(of(asked)?.detail['because'], 'it was cancelled');
  assert.equal(of(again)?.detail['because'], undefined);
});

test('A because of a workflow run is that of each of its jobs and approvals, unless somebody changed it', async (t) => {
  const fixture = await openHookFixture(t);
  await fixture.call('workflow.add', { name: 'asked', text: STEPS });
  await fixture.call('workflow.run', { name: 'asked', because: WHY });
  const [pending] = (await fixture.call('approval.list', {})) as Projected<'approval.list'>;
  assert.ok(pending !== undefined);
  const got = (await fixture.call('approval.get', { id: pending.id })) as Projected<'approval.get'>;
  assert.equal(got.because, WHY);
  assert.equal(await because(fixture, pending.job_id), WHY);
  await tamper(fixture.program.store, 'approvals', pending.id, { because: 'nothing to see' });
  const changed = (await fixture.call('approval.get', { id: pending.id })) as Projected<'approval.get'>;
  assert.equal(changed.because, undefined);
});

test('A because is a text of at most 500 characters, and an empty one counts as left out', async (t) => {
  const fixture = await openHookFixture(t);
  await assert.rejects(
    fixture.call('command.run', { ...ORDER, because: 'x'.repeat(501) }),
    /because: expected at most 500 characters/,
  );
  await assert.rejects(fixture.call('command.run', { ...ORDER, because: 5 }), /because: /);
  assert.equal(await because(fixture, await run(fixture, 'command.run', { ...ORDER, because: '' })), undefined);
});
