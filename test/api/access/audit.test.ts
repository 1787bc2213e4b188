import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { startProgram } from '../../support/program.ts';

interface Row {
  readonly operation: string;
  readonly principal: string;
  readonly target: string | null;
  readonly at: string;
  readonly detail: Readonly<Record<string, unknown>>;
}

for (const postgres of [false, true]) {
  describe(`GET /audit on ${postgres ? 'PostgreSQL' : 'SQLite'}`, () => {
    test('lists newest first, filters, and shows only the details that are listed for the operation', async (t) => {
      const program = await startProgram(t, { postgres });
      const who = { principal: 'ana', owner: 'ana', via: 'cli' };
      const detail = {
        name: 'bob',
        scope: 'operator',
        owner: 'bob',
        password: 'hunter2',
        nested: { password: 'hunter2' },
      };
      for (let n = 0; n < 1_100; n += 1)
        await program.store.write(async (tx) =>
          tx.record({ ...who, operation: n % 100 === 0 ? 'token.create' : 'job.start', target: `t${n}`, detail }),
        );
      await program.store.write(async (tx) =>
        tx.record({ ...who, principal: 'bob', operation: 'made.up', target: null, detail }),
      );
      const get = async (query: string): Promise<Row[]> => {
        const response = await fetch(`${program.url}/api/v1/audit${query}`, {
          headers: { authorization: `Bearer ${program.tokens.approve}` },
        });
        const text = await response.text();
        assert.equal(response.status, 200, text);
        assert.doesNotMatch(text, /hunter2/);
        const body = JSON.parse(text) as { kind: string; data: Row[] };
        assert.equal(body.kind, 'audit.list');
        return body.data;
      };
      const newest = await get('');
      assert.equal(newest.length, 50);
      assert.deepEqual([newest[0]?.operation, newest[0]?.detail, newest[1]?.target], ['made.up', {}, 't1099']);
      const made = await get('?operation=token.create&limit=0');
      assert.deepEqual(
        made.map((row) => row.target),
        Array.from({ length: 11 }, (_, n) => `t${1_000 - n * 100}`),
      );
      assert.deepEqual(made[0]?.detail, { name: 'bob', scope: 'operator', owner: 'bob' });
      assert.deepEqual(
        (await get('?target=t7')).map((row) => row.target),
        ['t7'],
      );
      assert.equal((await get('?principal=bob')).length, 1);
      assert.equal((await get('?limit=0')).length, 1_101);
      assert.equal((await get('?since=2999-01-01T00:00:00Z')).length, 0);
    });
  });
}
