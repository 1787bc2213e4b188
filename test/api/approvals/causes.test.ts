/** A person who causes an event is in the asking chain of what it starts, by every way over the faces (T84). */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { localCaller } from '../../../src/domain/access/caller.ts';
import type { Scope } from '../../../src/domain/access/scope.ts';
import { invoke } from '../../../src/operations/core/invoke.ts';
import { OPERATIONS } from '../../../src/operations/table.ts';
import { advanceRun } from '../../../src/jobs/workflows/advance.ts';
import { queueAction } from '../../../src/jobs/actions.ts';
import { recordRunOutcome } from '../../../src/reaction/run-outcome.ts';
import { recordTransitions } from '../../../src/reaction/check-transition.ts';
import { evaluateOutcome, recordOutcome } from '../../../src/reaction/outcome.ts';
import { causersOf } from '../../../src/store/events/causes.ts';
import { getJob } from '../../../src/store/jobs/jobs.ts';
import { gated } from '../../support/fixtures/approvals.ts';
import { addRule, alert, TRUE } from '../../support/fixtures/reaction.ts';
import { receive } from '../../../src/reaction/receive.ts';
import { hookSender } from '../../../src/operations/events/hooks-in.ts';
import { type Program, startProgram } from '../../support/program.ts';

const PRIVILEGED = { approval: 'required', action: { ...TRUE, privileged: true } } as const;

async function ask(
  program: Program,
  [scope, owner]: readonly [Scope, string],
  [method, path, body = {}]: readonly [string, string, object?],
): Promise<{ readonly status: number; readonly data: Record<string, unknown>; readonly code: string | undefined }> {
  const response = await fetch(`${program.url}/api/v1${path}`, {
    method,
    headers: {
      authorization: `Bearer ${await program.token(scope, { owner, name: `${owner}-${Math.random()}` })}`,
      'content-type': 'application/json',
    },
    ...(method === 'GET' ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const { data = {}, error } = (text === '' ? {} : JSON.parse(text)) as {
    data?: Record<string, unknown>;
    error?: { code: string };
  };
  return { status: response.status, data, code: error?.code };
}

async function newest(program: Program): Promise<string> {
  const rows = await program.store.db.selectFrom('approvals').select('id').orderBy('id', 'desc').limit(1).execute();
  return rows[0]?.id ?? '';
}

/** Tries to approve the newest request; answers the code of the refusal, or the status. */
async function approve(program: Program, owner: string): Promise<string> {
  const path = `/approvals/${await newest(program)}/decision`;
  const { status, code } = await ask(program, ['approve', owner], ['POST', path, { decision: 'approve' }]);
  return code ?? String(status);
}

async function goesDown(program: Program, name: string): Promise<void> {
  await recordTransitions(program.services.reaction, [
    {
      check: name,
      target: 'a',
      transition: { status: 'firing', observedAt: [1, 2, 3] },
      durationMs: 1,
      detail: 'unreachable',
      netgroup: null,
      keep: () => Promise.resolve(true),
    },
  ]);
}

async function outcomeOf(program: Program, id: string): Promise<void> {
  const job = await getJob(program.store.db, id);
  await recordOutcome(program.services.reaction, job, await evaluateOutcome(program.services.reaction, job));
}

async function locally(
  program: Program,
  user: string,
  operation: string,
  raw: object,
): Promise<Record<string, unknown>> {
  const row = OPERATIONS.find(({ id }) => id === operation);
  assert.ok(row !== undefined);
  const answer = await invoke(program, row, { caller: localCaller(user), raw });
  return answer.shape === 'body' ? (answer.data as Record<string, unknown>) : {};
}

const CHECK = { name: 'db', kind: 'tcp', interval: '1h', targets: ['a=127.0.0.1:1'] } as const;

for (const postgres of [false, true]) {
  describe(`Causes over the API on ${postgres ? 'PostgreSQL' : 'SQLite'}`, () => {
    test('T84: who changed a check cannot approve what its transition asks for; another person can', async (t) => {
      const program = await startProgram(t, { postgres });
      await addRule(program.services.reaction, 'restart', { ...PRIVILEGED, when: 'event.source == "check"' });
      assert.equal((await ask(program, ['operator', 'cem'], ['POST', '/checks', CHECK])).status, 200);
      const change = ['PUT', '/checks/db', { targets: ['a=127.0.0.1:2'] }] as const;
      assert.equal((await ask(program, ['operator', 'ana'], change)).status, 200);
      await goesDown(program, 'db');
      assert.equal(await approve(program, 'ana'), 'forbidden');
      assert.equal(await approve(program, 'ben'), '200');
    });

    test('T84: who changes which netgroup an address is in causes what is said of the address', async (t) => {
      const program = await startProgram(t, { postgres });
      const chainOf = async (address: string): Promise<readonly string[]> => {
        program.services.netgroups.forget();
        const name = (await program.services.netgroups.current()).classify(address);
        return program.store.write((tx) => causersOf(tx, [`netgroup:${name}`]));
      };
      const as = async (owner: string, ...request: readonly [string, string, object?]): Promise<void> =>
        assert.ok((await ask(program, ['operator', owner], request)).status < 300, `${request[0]} ${request[1]}`);
      await as('cem', 'POST', '/netgroups', { name: 'lab', prefixes: '10.0.0.0/8' });
      await as('cem', 'POST', '/netgroups', { name: 'special', prefixes: '10.0.0.2/32' });
      await as('cem', 'POST', '/netgroups', { name: 'other', prefixes: '192.168.1.0/24' });
      await as('cem', 'POST', '/netgroups', { name: 'far', prefixes: '172.16.0.0/16' });
      // Into the wider group, away, and away by an exclusion of a new group.
      await as('ana', 'PUT', '/netgroups/special', { prefixes: '10.0.0.9/32' });
      assert.ok((await chainOf('10.0.0.2')).includes('ana'));
      await as('eve', 'DELETE', '/netgroups/other');
      assert.ok((await chainOf('192.168.1.1')).includes('eve'));
      await as('ida', 'POST', '/netgroups', { name: 'new', prefixes: '10.0.0.200/32,!10.0.0.3/32' });
      assert.ok((await chainOf('10.0.0.3')).includes('ida'));
      assert.deepEqual(await chainOf('172.16.0.1'), ['cem']);
    });

    test('T84: who cancels the job of another cannot approve what its end asks for', async (t) => {
      const program = await startProgram(t, { postgres });
      await addRule(program.services.reaction, 'repair', { ...PRIVILEGED, when: 'event.source == "job-outcome"' });
      const id = await program.queue();
      assert.equal((await ask(program, ['operator', 'ana'], ['POST', `/jobs/${id}/cancel`])).status, 200);
      await outcomeOf(program, id);
      assert.equal(await approve(program, 'ana'), 'forbidden');
      assert.equal(await approve(program, 'ben'), '200');
    });

    test('T84: who rejects a request cannot approve what its end asks for', async (t) => {
      const program = await startProgram(t, { postgres });
      await addRule(program.services.reaction, 'repair', { ...PRIVILEGED, when: 'event.source == "job-outcome"' });
      const { apr, job } = await gated(program);
      const no = { decision: 'reject', reason: 'not today' };
      assert.equal((await ask(program, ['approve', 'ana'], ['POST', `/approvals/${apr}/decision`, no])).status, 200);
      await outcomeOf(program, job);
      assert.equal(await approve(program, 'ana'), 'forbidden');
      assert.equal(await approve(program, 'ben'), '200');
    });

    test('T84: who removes a mute cannot approve what its end asks for', async (t) => {
      const program = await startProgram(t, { postgres });
      const { reaction } = program.services;
      await receive(reaction, [alert()], hookSender({ name: 'am' }));
      await addRule(reaction, 'after', { ...PRIVILEGED, when: 'event.source == "mute"' });
      const mute = { scope_kind: 'alert', scope_value: 'DiskFull', for: '1h' };
      const made = await ask(program, ['operator', 'cem'], ['POST', '/mutes', mute]);
      const { status } = await ask(program, ['operator', 'ana'], ['DELETE', `/mutes/${String(made.data['id'])}`]);
      assert.equal(status, 204);
      assert.equal(await approve(program, 'ana'), 'forbidden');
      assert.equal(await approve(program, 'cem'), 'forbidden');
      assert.equal(await approve(program, 'ben'), '200');
    });

    test('T84: who cancels a run of a workflow causes its end and that of its jobs', async (t) => {
      const program = await startProgram(t, { postgres });
      const definition = 'steps:\n  - name: one\n    command: [sleep, "9"]\n    inventory: localhost\n';
      await locally(program, 'cem', 'workflow.add', { name: 'patch', text: definition, replace: false });
      await locally(program, 'cem', 'workflow.run', { name: 'patch', from: [] });
      const [run] = await program.store.db.selectFrom('workflow_runs').select('id').execute();
      const [step] = await program.store.db.selectFrom('workflow_steps').select('job_id').execute();
      await locally(program, 'ana', 'workflow.cancel', { run: run?.id });
      const read = (subject: `run:${string}` | `job:${string}`): Promise<readonly string[]> =>
        program.store.write((tx) => causersOf(tx, [subject]));
      assert.deepEqual(await read(`run:${run?.id ?? ''}`), ['local:ana']);
      assert.deepEqual(await read(`job:${step?.job_id ?? ''}`), ['local:ana']);
    });

    test('T84: who removes the inventory of a later step cannot approve what the end of the run asks for', async (t) => {
      const program = await startProgram(t, { postgres });
      const { store, services } = program;
      await addRule(services.reaction, 'repair', { ...PRIVILEGED, when: 'event.name == "workflow:wf"' });
      await locally(program, 'cem', 'inventory.add', { name: 'lab', text: '[all]\ndb1\n', replace: false });
      const second = '  - name: two\n    command: [id]\n    inventory: lab\n';
      const text = `steps:\n  - name: one\n    command: ["true"]\n    inventory: localhost\n${second}`;
      await locally(program, 'cem', 'workflow.add', { name: 'wf', text, replace: false });
      await locally(program, 'cem', 'workflow.run', { name: 'wf', from: [] });
      await locally(program, 'ana', 'inventory.remove', { name: 'lab' });
      const over = { state: 'succeeded', finished_at: Date.now() } as const;
      await store.write(({ db }) => db.updateTable('jobs').set(over).execute());
      const [run] = await store.db.selectFrom('workflow_runs').select('id').execute();
      const deps = { ...services.reaction, queueAction };
      await store.write((tx) => advanceRun(tx, deps, run?.id ?? ''));
      const ended = await store.db.selectFrom('workflow_runs').selectAll().executeTakeFirstOrThrow();
      assert.equal(ended.state, 'failed');
      await recordRunOutcome(services.reaction, ended);
      const [asked] = await store.db.selectFrom('approvals').select('owners').execute();
      assert.deepEqual((JSON.parse(asked?.owners ?? '[]') as string[]).toSorted(), ['local:ana', 'local:cem', 'rolf']);
    });

    test('T84: a request that no token can decide says so at once, with scopes and without people', async (t) => {
      const program = await startProgram(t, { postgres });
      for (const token of Object.values(program.tokens)) await program.revoke(token);
      await addRule(program.services.reaction, 'restart', { ...PRIVILEGED, when: 'event.source == "check"' });
      await program.token('approve', { owner: 'rolf', name: 'of-the-rule' });
      const alone = await program.token('approve', { owner: 'ana', name: 'of-the-check' });
      await program.store.write(async (tx) => {
        await tx.db.insertInto('causes').values({ subject: 'check:db', owner: 'ana', position: 1, seen: 0 }).execute();
      });
      await goesDown(program, 'db');
      const [event] = await program.store.db.selectFrom('events').select('reason').execute();
      assert.match(event?.reason ?? '', /No token can decide it: each one of the scope approve or operator belongs to/);
      const get = async (): Promise<unknown> => {
        const response = await fetch(`${program.url}/api/v1/approvals/${await newest(program)}`, {
          headers: { authorization: `Bearer ${alone}` },
        });
        return ((await response.json()) as { data: { missing_scopes?: unknown } }).data.missing_scopes;
      };
      assert.deepEqual(await get(), ['approve', 'operator']);
      await program.token('operator', { owner: 'ben', name: 'console' });
      assert.equal(await get(), undefined);
    });
  });
}
