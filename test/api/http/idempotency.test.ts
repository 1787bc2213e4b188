/** One key, one job: for its owner, whatever is raced, repeated or tried by others. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { inspect } from 'node:util';
import { localCaller } from '../../../src/domain/access/caller.ts';
import { invoke } from '../../../src/operations/core/invoke.ts';
import { OPERATIONS } from '../../../src/operations/table.ts';
import { type Program, startProgram } from '../../support/program.ts';
import { exchange, open, request, split } from '../../support/raw-http.ts';
import { send } from '../../support/scenario.ts';

const RUN = '/api/v1/commands/run';

async function run(
  program: Program,
  token: string,
  key: string,
  body: unknown = { inventory: 'localhost', command: ['true'] },
): Promise<{ status: number; text: string }> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'idempotency-key': key };
  const response = await fetch(program.url + RUN, { method: 'POST', headers, body: JSON.stringify(body) });
  return { status: response.status, text: await response.text() };
}

/** A header line. */
function key(text: string): string {
  return `Idempotency-Key: ${text}\r\n`;
}

async function jobCount(program: Program): Promise<number> {
  const { json } = await send(program, 'readonly', { method: 'GET', path: '/api/v1/jobs?limit=0' });
  return (json as { data: unknown[] }).data.length;
}

for (const postgres of [false, true]) {
  describe(postgres ? 'On PostgreSQL' : 'On SQLite', () => {
    test('F18: 200 simultaneous requests with one key to two daemons make one job and get one answer', async (t) => {
      const first = await startProgram(t, { postgres });
      const second = await startProgram(t, { beside: first });
      for (const each of [first, second]) await run(each, first.tokens.operator, `warm-${each.port}`);
      for (let round = 0; round < 3; round += 1) {
        const answers = await Promise.all(
          Array.from({ length: 200 }, (_each, i) =>
            run(i % 2 === 0 ? first : second, first.tokens.operator, `round-${round}`),
          ),
        );
        assert.deepEqual(
          [...new Set(answers.map(({ status }) => status))],
          [202],
          inspect([first.logged[0], second.logged[0]]),
        );
        assert.equal(new Set(answers.map(({ text }) => text)).size, 1);
      }
      assert.equal(await jobCount(first), 2 + 3);
    });

    test('T26: A key belongs to its owner: another owner gets a different job and never sees the first', async (t) => {
      const program = await startProgram(t, { postgres });
      const [ana, ben] = [
        await program.token('operator', { owner: 'ana' }),
        await program.token('operator', { owner: 'ben' }),
      ];
      const a = await run(program, ana, 'shared');
      const b = await run(program, ben, 'shared');
      assert.notEqual(a.text, b.text);
      assert.equal(await jobCount(program), 2);
    });

    test('T26: Another token, route or body of the same owner answers with the job that holds the key', async (t) => {
      const program = await startProgram(t, { postgres });
      const [one, two] = [
        await program.token('operator', { owner: 'ana' }),
        await program.token('operator', { owner: 'ana' }),
      ];
      const first = await run(program, one, 'held');
      assert.deepEqual(await run(program, one, 'held'), first);
      assert.deepEqual(await run(program, two, 'held'), first);
      assert.deepEqual(await run(program, one, 'held', { inventory: 'localhost', command: ['other'] }), first);
      assert.equal(await jobCount(program), 1);
    });

    test('T26: A refused request holds no key', async (t) => {
      const program = await startProgram(t, { postgres });
      const token = program.tokens.operator;
      assert.equal((await run(program, token, 'tried', { inventory: 'nowhere', command: ['true'] })).status, 404);
      assert.equal((await run(program, token, 'tried', { inventory: 'localhost' })).status, 400);
      assert.equal((await run(program, token, 'tried')).status, 202);
    });
  });
}

test('T27: A key that looks like one of the service keeps no redrive from making its one job', async (t) => {
  const program = await startProgram(t);
  const old = await program.queue();
  await program.claim();
  await program.finish(old, { state: 'failed', exitCode: 1 });
  await program.store.write(({ db }) =>
    db.updateTable('jobs').set({ state: 'interrupted' }).where('id', '=', old).execute(),
  );
  for (const squatted of [`redrive:${old}`, old, `job.redrive:${old}`])
    assert.equal((await run(program, program.tokens.operator, squatted)).status, 202);
  const before = await jobCount(program);
  const redrive = async (): Promise<{ old_job_id: string; new_job_id: string | null }[]> => {
    const operation = OPERATIONS.find((row) => row.id === 'job.redrive') ?? assert.fail();
    const answer = await invoke({ store: program.store, services: program.services }, operation, {
      caller: localCaller('zoe'),
      raw: {},
    });
    return answer.shape === 'body'
      ? (answer.data as { old_job_id: string; new_job_id: string | null }[])
      : assert.fail();
  };
  const first = await redrive();
  assert.deepEqual(
    first.map((pair) => pair.old_job_id),
    [old],
  );
  assert.deepEqual(await redrive(), first);
  assert.equal(await jobCount(program), before + 1);
});

test('T26: A key is 1 to 255 printable ASCII characters, given once', async (t) => {
  const program = await startProgram(t);
  const bearer = `Authorization: Bearer ${program.tokens.operator}\r\nContent-Type: application/json\r\n`;
  const body = '{"inventory":"localhost","command":["true"]}';
  const ask = async (keys: string): Promise<number> =>
    split(
      await exchange(
        program.port,
        Buffer.from(
          `POST ${RUN} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${bearer}${keys}Content-Length: ` +
            `${body.length}\r\n\r\n${body}`,
          'latin1',
        ),
      ),
    ).status;
  for (const bad of [
    key(''),
    key('a'.repeat(256)),
    key('caf\xe9'),
    key('a\tb'),
    key('one') + key('two'),
    key('same') + key('same'),
  ]) {
    assert.equal(await ask(bad), 400, bad);
  }
  for (const good of [key('a'), key('a'.repeat(255)), key('~ !"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}'), ''])
    assert.equal(await ask(good), 202, good);
});

test('F18: A retry after a lost answer gets the job that the first request made', async (t) => {
  const program = await startProgram(t);
  const body = '{"inventory":"localhost","command":["true"]}';
  const headers = {
    Authorization: `Bearer ${program.tokens.operator}`,
    'Content-Type': 'application/json',
    'Idempotency-Key': 'lost',
    'Content-Length': String(body.length),
  };
  const socket = await open(program.port);
  socket.write(request('POST', RUN, headers, body));
  socket.destroy();
  const retried = await run(program, program.tokens.operator, 'lost');
  assert.equal(retried.status, 202);
  assert.deepEqual(await run(program, program.tokens.operator, 'lost'), retried);
  assert.equal(await jobCount(program), 1);
});
