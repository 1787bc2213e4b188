/** What the command line asks of schedules. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Failure, type FailureCode } from '../../../src/domain/failure.ts';
import { JOB_ACTION_KINDS } from '../../../src/domain/rules/actions.ts';
import { localCaller } from '../../../src/domain/access/caller.ts';
import { invoke } from '../../../src/operations/core/invoke.ts';
import { OPERATIONS } from '../../../src/operations/table.ts';
import type { Projected } from '../../../src/views/views.ts';
import { type Program, startProgram } from '../../support/program.ts';
import { send } from '../../support/scenario.ts';
import { scheduleOf, timeFrom } from '../../support/fixtures/schedules.ts';
import { audited, callLocally, makeWorkspace } from '../../support/fixtures/workspaces.ts';

type Schedule = Projected<'schedule.get'>;

const call = (program: Program, verb: string, raw: object): Promise<Schedule> =>
  callLocally<Schedule>(program, `schedule.${verb}`, raw);
const CRON = { name: 'nightly', cron: '0 3 * * *' };
const COMMAND = { ...CRON, command: ['uptime'], inventory: 'localhost' };

function refused(code: FailureCode, message: RegExp) {
  return (error: unknown) => {
    assert.ok(error instanceof Failure, String(error));
    assert.deepEqual([error.code, message.test(error.message)], [code, true], error.message);
    return true;
  };
}

async function programWith(t: {
  after(step: () => Promise<void>): void;
}): Promise<{ program: Program; time: ReturnType<typeof timeFrom> }> {
  const time = timeFrom('2026-11-21T12:00:00Z');
  const program = await startProgram(t, { clock: time.clock });
  await makeWorkspace(program, 'net');
  return { program, time };
}

describe('Adding a schedule', () => {
  test('The answer shows the next slot in UTC; the daemon is woken, and the ledger has a row', async (t) => {
    const { program } = await programWith(t);
    const wakes = program.wakes();
    const added = await call(program, 'add', {
      ...CRON,
      timezone: 'europe/berlin',
      apply: 'net',
      approval: 'required',
      approval_ttl: '90m',
    });
    assert.deepEqual(added, {
      name: 'nightly',
      cron: '0 3 * * *',
      timezone: 'Europe/Berlin',
      enabled: true,
      runbook: 'apply:net',
      next_at: '2026-11-22T02:00:00.000Z',
      last_at: null,
      last_job_id: null,
      approval: 'required',
      approval_ttl: '1h30m',
      action: { kind: 'apply', workspace: 'net', timeout: null },
    });
    assert.ok(program.wakes() > wakes);
    assert.deepEqual(await audited(program), {
      operation: 'schedule.add',
      target: 'nightly',
      detail: { runbook: 'apply:net', approval: 'required' },
    });
    const { owners, added_by: addedBy } = await scheduleOf(program.store);
    assert.deepEqual([owners, addedBy], ['["local:tester"]', 'local:tester']);
  });

  test('Without a zone it is UTC, and a command is kept word by word but not shown', async (t) => {
    const { program } = await programWith(t);
    const added = await call(program, 'add', { ...COMMAND, words: ['-p', '${x} $(id)'], limit: 'all', timeout: '10m' });
    assert.deepEqual(
      [added.timezone, added.next_at, added.runbook],
      ['UTC', '2026-11-22T03:00:00.000Z', 'command:localhost'],
    );
    assert.deepEqual(added.action, { kind: 'command', inventory: 'localhost', limit: 'all', timeout: '10m' });
    assert.deepEqual(JSON.parse((await scheduleOf(program.store)).action), {
      kind: 'command',
      command: ['uptime', '-p', '${x} $(id)'],
      inventory: 'localhost',
      limit: 'all',
      timeout: '10m',
    });
  });

  test('A name that is taken is a duplicate, and the first one stays', async (t) => {
    const { program } = await programWith(t);
    await call(program, 'add', COMMAND);
    await assert.rejects(call(program, 'add', { ...CRON, plan: 'net' }), refused('duplicate', /nightly/));
    assert.equal((await scheduleOf(program.store)).runbook, 'command:localhost');
  });

  test('It may look for drift, which is no change and needs no yes', async (t) => {
    const { program } = await programWith(t);
    const added = await call(program, 'add', { ...CRON, drift: 'net' });
    assert.deepEqual([added.runbook, added.action], ['drift:net', { kind: 'drift', workspace: 'net', timeout: null }]);
    const all = await call(program, 'add', { ...CRON, name: 'all', drift_all: true });
    assert.deepEqual([all.runbook, all.action], ['drift:*', { kind: 'drift_all', timeout: null }]);
  });

  test('What can never run is refused, with the field', async (t) => {
    const { program } = await programWith(t);
    const cases: [object, FailureCode, RegExp][] = [
      [{ ...COMMAND, cron: '0 0 3 * * *' }, 'invalid_argument', /^cron: .*Seconds are not supported/],
      [{ ...COMMAND, cron: '0 0 30 2 *' }, 'invalid_argument', /^cron: .*never/],
      [{ ...COMMAND, timezone: 'Mars/Olympus' }, 'invalid_argument', /^timezone: /],
      [
        CRON,
        'invalid_argument',
        new RegExp(
          String.raw`^${JOB_ACTION_KINDS.join(', ')}: ` +
            String.raw`expected exactly one of them\. The words of a command come last, after --\.$`,
        ),
      ],
      [
        { ...CRON, inventory: 'localhost' },
        'invalid_argument',
        /^command: required with inventory, unless a playbook is given; put it last, after --\.$/,
      ],
      [{ ...COMMAND, plan: 'net' }, 'invalid_argument', /exactly one/],
      [{ ...CRON, plan: 'net', destroy: 'net' }, 'invalid_argument', /exactly one/],
      [{ ...CRON, plan: 'nowhere' }, 'not_found', /nowhere/],
      [{ ...CRON, plan: 'net', inventory: 'localhost' }, 'invalid_argument', /^inventory, limit/],
      [{ ...CRON, command: ['uptime'] }, 'invalid_argument', /^inventory: /],
      [{ ...COMMAND, inventory: 'prod' }, 'not_found', /prod/],
      [{ ...COMMAND, limit: 'web1' }, 'invalid_argument', /^limit: /],
      [{ ...COMMAND, limit: '${event.labels.h}' }, 'invalid_argument', /^limit: /],
      [{ ...COMMAND, command: [''] }, 'invalid_argument', /^command: /],
      [{ ...COMMAND, timeout: '8d' }, 'invalid_argument', /^timeout: /],
      [{ ...COMMAND, approval: 'maybe' }, 'invalid_argument', /^approval: /],
      [{ ...COMMAND, approval_ttl: '1h' }, 'invalid_argument', /^approval_ttl: expected only with/],
      [{ ...COMMAND, approval: 'required', approval_ttl: '8d' }, 'invalid_argument', /^approval_ttl: .*7d/],
      [{ ...COMMAND, name: 'Not A Name' }, 'invalid_argument', /^name: /],
    ];
    for (const [raw, code, message] of cases)
      await assert.rejects(call(program, 'add', raw), refused(code, message), JSON.stringify(raw));
    assert.deepEqual(await program.store.db.selectFrom('schedules').selectAll().execute(), []);
  });
});

describe('Switching a schedule', () => {
  test('A disabled schedule has no next slot; an enabled one has the next slot, not missed ones', async (t) => {
    const { program, time } = await programWith(t);
    await call(program, 'add', COMMAND);
    const off = await call(program, 'disable', { name: 'nightly' });
    assert.deepEqual([off.enabled, off.next_at], [false, null]);
    assert.deepEqual(await call(program, 'disable', { name: 'nightly' }), off);
    time.pass(3 * 86_400_000);
    const on = await call(program, 'enable', { name: 'nightly' });
    assert.deepEqual([on.enabled, on.next_at], [true, '2026-11-25T03:00:00.000Z']);
    assert.deepEqual(await call(program, 'enable', { name: 'nightly' }), on);
  });

  test('T28: the user who enables it again owns its jobs, together with its author', async (t) => {
    const { program } = await programWith(t);
    await call(program, 'add', COMMAND);
    const enable = OPERATIONS.find(({ id }) => id === 'schedule.enable') ?? assert.fail();
    const as = (owner: string) =>
      invoke({ store: program.store, services: program.services }, enable, {
        caller: { ...localCaller(owner), owner },
        raw: { name: 'nightly' },
      });
    await as('bea');
    assert.equal((await scheduleOf(program.store)).owners, '["local:tester"]', 'it was on already');
    await call(program, 'disable', { name: 'nightly' });
    await as('bea');
    assert.equal((await scheduleOf(program.store)).owners, '["local:tester","bea"]');
  });

  test('An unknown schedule is not found, and a removed one leaves the list', async (t) => {
    const { program } = await programWith(t);
    for (const verb of ['enable', 'disable', 'remove'])
      await assert.rejects(call(program, verb, { name: 'nightly' }), refused('not_found', /nightly/));
    await call(program, 'add', COMMAND);
    const list = async () =>
      (await send(program, 'readonly', { method: 'GET', path: '/api/v1/schedules' })).json as { data: unknown[] };
    assert.equal((await list()).data.length, 1);
    assert.deepEqual(
      [(await call(program, 'remove', { name: 'nightly' })).name],
      ['nightly'],
      'what was removed is shown',
    );
    assert.deepEqual((await list()).data, []);
  });
});
