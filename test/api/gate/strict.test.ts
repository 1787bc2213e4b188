/** A strict service: what it shows, what it refuses, and who opens it in the database. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeStrict } from '../../../src/app/run/make-strict.ts';
import { examineGate } from '../../../src/doctor/gate/gate.ts';
import type { Facts } from '../../../src/doctor/entry.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { insertWorkspace } from '../../../src/store/workspaces/workspaces.ts';
import type { Projected } from '../../../src/views/views.ts';
import { type HookFixture, openHookFixture } from '../../support/fixtures/hooks.ts';
import { workspaceRow } from '../../support/fixtures/workspace-row.ts';
import { refusal } from '../../support/refusal.ts';

type Gate = Projected<'gate.get'>;

const counts = ({ open }: Gate) => Object.fromEntries(open.map(({ what, count }) => [what, count]));

async function doctor({ program }: HookFixture): Promise<[string, string]> {
  const { status, detail } = await examineGate({ openedStore: () => program.store, clock: systemClock } as Facts);
  return [status, detail];
}

test('The gate says what one person alone can do, before and after it is strict', async (t) => {
  const at = await openHookFixture(t);
  await at.program.store.write((tx) => insertWorkspace(tx, workspaceRow('net')));
  await at.call('inventory.add', { name: 'prod', text: 'web1\n' });
  await at.call('inventory.add', { name: 'lab', text: 'lab1\n', approve_runs: 'none' });
  const before: Gate = await at.call('gate.get', {});
  assert.deepEqual([before.strict, before.set_at], [false, null]);
  // prod, lab and localhost; the tokens of the fixture never expire, and one of them is of an operator.
  assert.deepEqual(counts(before), { workspaces: 1, inventories: 3, console_sessions: 1, long_tokens: 4 });
  assert.match((await doctor(at)).join(' '), /^ok The gate is not strict .* Open: 1 workspaces /);
  const after: Gate = await at.call('gate.strict', { state: 'on' });
  assert.deepEqual([after.strict, after.set_by], [true, 'local:ops']);
  assert.deepEqual(counts(after), { inventories: 1, long_tokens: 4 });
  assert.match((await doctor(at)).join(' '), /^ok The gate is strict\. Open: 1 inventories /);
  await at.call('workspace.update', { name: 'net', unprotected: true });
  assert.equal(counts(await at.call('gate.get', {}))['workspaces'], 1);
  const off: Gate = await at.call('gate.strict', { state: 'off' });
  assert.deepEqual(counts(off), counts(before));
});

test('A workspace that says so takes a destroy and a fresh apply in a strict service', async (t) => {
  const at = await openHookFixture(t);
  await at.program.store.write((tx) => insertWorkspace(tx, workspaceRow('net')));
  await at.call('gate.strict', { state: 'on' });
  await assert.rejects(at.call('workspace.destroy', { name: 'net' }), refusal('conflict'));
  assert.equal((await at.program.store.db.selectFrom('jobs').select('id').execute()).length, 0);
  await at.call('workspace.update', { name: 'net', unprotected: true });
  await at.call('workspace.destroy', { name: 'net' });
  await at.call('workspace.update', { name: 'net', no_unprotected: true });
  await assert.rejects(at.call('workspace.apply', { name: 'net' }), /svc workspace update net --unprotected/);
});

test('A setting by hand wins over strict, for localhost too, and outlives it', async (t) => {
  const at = await openHookFixture(t);
  const here = { inventory: 'localhost', command: ['true'] };
  const state = async () => (await at.call<Projected<'job.enqueued'>>('command.run', here)).state as string;
  await at.call('gate.strict', { state: 'on' });
  assert.equal(await state(), 'awaiting_approval');
  await at.call('inventory.update', { name: 'localhost', approve_runs: 'none' });
  assert.equal(await state(), 'queued');
  const { strict }: Gate = await at.call('gate.get', {});
  assert.equal(strict, true);
});

test('T80: a row that somebody changed counts as strict; one that is gone makes the doctor fail', async (t) => {
  const at = await openHookFixture(t);
  const { store } = at.program;
  await at.call('gate.strict', { state: 'off' });
  await store.write(({ db }) => db.updateTable('gate').set({ set_at: 1 }).execute());
  assert.equal((await at.call<Gate>('gate.get', {})).strict, true);
  assert.match((await doctor(at)).join(' '), /^fail The row of the gate was changed in the database/);
  await at.call('gate.strict', { state: 'on' });
  assert.match((await doctor(at)).join(' '), /^ok The gate is strict/);
  await store.write(({ db }) => db.deleteFrom('gate').execute());
  assert.match((await doctor(at)).join(' '), /^fail The gate is open, and the ledger says that it is strict since/);
});

test('svc serve --strict makes it strict once, and the ledger says so once', async (t) => {
  const at = await openHookFixture(t);
  await makeStrict(at.program.store);
  await makeStrict(at.program.store);
  assert.equal((await at.call<Gate>('gate.get', {})).strict, true);
  const rows: Projected<'audit.list'> = await at.call('audit.list', {});
  const made = rows.filter(({ operation }) => operation === 'gate.strict');
  assert.deepEqual(
    made.map(({ principal, detail }) => [principal, detail]),
    [['gatehouse', { strict: true }]],
  );
});

test('gate.strict takes on and off alone', async (t) => {
  const at = await openHookFixture(t);
  await assert.rejects(at.call('gate.strict', { state: 'maybe' }), /state: expected one of on, off/);
  await assert.rejects(at.call('gate.strict', {}), /state: /);
  assert.equal((await at.call<Gate>('gate.get', {})).set_at, null);
});
