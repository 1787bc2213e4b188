/** The limit of the probes that the enabled checks take together, through the whole program on both databases. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { totalProbeRate } from '../../../src/store/checks/probe-rates.ts';
import { apply } from '../../support/configuration/config-files.ts';
import { putCheck } from '../../support/checks/sweep-fixture.ts';
import { type Program, startProgram } from '../../support/program.ts';
import { refusal } from '../../support/refusal.ts';
import { send } from '../../support/scenario.ts';

const CHECKS = '/api/v1/checks';

const names = (count: number): string[] => Array.from({ length: count }, (_, at) => `t${at}`);
const targets = (count: number): string[] => names(count).map((name, at) => `${name}=10.0.0.1:${at + 1}`);

type Method = 'POST' | 'PUT' | 'DELETE';
type Body = Readonly<Record<string, unknown>>;

async function call(program: Program, method: Method, path: string, body?: Body): Promise<string> {
  const { status, json } = await send(program, 'operator', { method, path: `${CHECKS}${path}`, ...(body && { body }) });
  const { error } = (json ?? {}) as { error?: { code: string; message: string } };
  return error === undefined ? String(status) : `${status} ${error.code}: ${error.message}`;
}

const add = (program: Program, name: string, count: number, interval = '1s'): Promise<string> =>
  call(program, 'POST', '', { name, kind: 'tcp', interval, targets: targets(count) });
const update = (program: Program, name: string, count: number, interval?: string): Promise<string> =>
  call(program, 'PUT', `/${name}`, { targets: targets(count), ...(interval && { interval }) });

/** All that a refused write could have left. */
async function stored({ store }: Program): Promise<unknown> {
  const tables = ['checks', 'check_targets', 'config_objects', 'idempotency', 'ledger'] as const;
  return Promise.all(
    tables.map((table) =>
      store.db
        .selectFrom(table as 'checks')
        .selectAll()
        .execute(),
    ),
  );
}

/** The write is refused with these numbers, and writes nothing. */
async function refuses(program: Program, more: string, taken: string, write: () => Promise<string>): Promise<void> {
  const before = await stored(program);
  assert.equal(
    await write(),
    `409 conflict: This would take ${more} probes a second more. The enabled checks take ${taken}, and the limit is ` +
      '10 (--check-probes-per-second). Nothing was changed: use a longer interval or fewer targets, or disable ' +
      'another check.',
  );
  assert.deepEqual(await stored(program), before);
}

const start = (t: Parameters<typeof startProgram>[0], postgres: boolean): Promise<Program> =>
  startProgram(t, { postgres, probesPerSecond: 10 });

function file(name: string, count: number, more = ''): string {
  const check = `{name: ${name}, kind: tcp, interval: 1s, targets: [${targets(count).join(', ')}]${more}}`;
  return `set: s\nchecks:\n  - ${check}\n`;
}

for (const postgres of [false, true]) {
  describe(postgres ? 'The budget of probes on PostgreSQL' : 'The budget of probes on SQLite', () => {
    test('T88: a check that would go over it is refused when it is added, changed or enabled', async (t) => {
      const program = await start(t, postgres);
      assert.equal(await add(program, 'a', 6), '200');
      await refuses(program, '5', '6', () => add(program, 'b', 5));
      assert.equal(await add(program, 'b', 4), '200');
      await refuses(program, '0.033', '10', () => add(program, 'c', 1, '30s'));
      await refuses(program, '1', '10', () => update(program, 'b', 5));
      assert.equal(await update(program, 'b', 8, '2s'), '200');
      await refuses(program, '4', '10', () => update(program, 'b', 8, '1s'));
      assert.equal(await call(program, 'POST', '/a/disable'), '200');
      assert.equal(await add(program, 'c', 3), '200');
      await refuses(program, '6', '7', () => call(program, 'POST', '/a/enable'));
      assert.equal(await update(program, 'a', 3), '200', 'a disabled check takes nothing');
      assert.equal(await call(program, 'POST', '/a/enable'), '200');
      assert.equal(await call(program, 'POST', '/a/enable'), '200', 'one that is enabled stays so');
    });

    test('T88: what makes the sum smaller, or leaves it, is done also where it is over the limit', async (t) => {
      const program = await start(t, postgres);
      await putCheck(program.store, 'old', names(30), { interval_ms: 1_000 });
      await putCheck(program.store, 'older', names(20), { interval_ms: 1_000 });
      await refuses(program, '1', '50', () => update(program, 'old', 31));
      assert.equal(await update(program, 'old', 30), '200');
      assert.equal(await update(program, 'old', 29), '200');
      assert.equal(await call(program, 'POST', '/old/disable'), '200');
      assert.equal(await call(program, 'DELETE', '/older'), '204');
      assert.equal(await add(program, 'new', 10), '200');
    });

    test('T88: a file counts by its end: what it adds before it removes is not in the way', async (t) => {
      const program = await start(t, postgres);
      await apply(program, file('a', 10));
      await apply(program, file('b', 10), { prune: true });
      await apply(program, file('c', 11, ', enabled: false'));
      const before = await stored(program);
      const words = /^.*This would take 1 probes a second more\. The enabled checks take 10, and the limit is 10 /;
      await assert.rejects(apply(program, file('b', 11)), refusal('conflict', words));
      assert.deepEqual(await stored(program), before);
    });

    test('T88: of checks that two daemons add at the same time, those that fit are added', async (t) => {
      const first = await start(t, postgres);
      const second = await startProgram(t, { beside: first, probesPerSecond: 10 });
      const answers = await Promise.all(names(12).map((name, at) => add(at % 2 === 0 ? first : second, name, 3)));
      assert.equal(answers.filter((answer) => answer === '200').length, 3, answers.join('\n'));
      assert.equal(await totalProbeRate(first.store.db), 9_000);
    });

    test('T88: an add of 10,000 targets that is refused leaves none of them', async (t) => {
      const program = await start(t, postgres);
      assert.match(await add(program, 'web', 10_000), /^409 conflict: This would take 10000 probes a second more\./);
      assert.deepEqual(await stored(program), [[], [], [], [], []]);
    });
  });
}
