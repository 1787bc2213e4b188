/** What the command line asks of dead-man watches. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Projected } from '../../../src/views/views.ts';
import { listWatches, tripWatch, watchesOf } from '../../../src/store/deadman/watches.ts';
import { insertWebhook, markHeard } from '../../../src/store/events/webhooks.ts';
import { type Program, startProgram } from '../../support/program.ts';
import { refusal } from '../../support/refusal.ts';
import { callLocally } from '../../support/fixtures/workspaces.ts';

type Watch = Projected<'deadman.get'>;

const call = (program: Program, verb: string, raw: object): Promise<Watch> =>
  callLocally<Watch>(program, `deadman.${verb}`, raw);
const states = async (program: Program) =>
  (await callLocally<Watch[]>(program, 'deadman.list', {})).map(({ name, state }) => `${name} ${state}`);

for (const postgres of [false, true]) {
  const on = postgres ? 'PostgreSQL' : 'SQLite';
  test(`A watch shows its last message, also when removed; its silence is at least 10 s, on ${on}`, async (t) => {
    const program = await startProgram(t, { postgres });
    const { store } = program;
    await assert.rejects(
      call(program, 'add', { name: 'alive', webhook: 'dog', every: '10m' }),
      refusal('not_found', /^There is no webhook dog\.$/),
    );
    await store.write((tx) =>
      insertWebhook(tx, { name: 'dog', source: 'generic', hash: 'h', created_at: tx.now, last_heard_at: null }),
    );
    for (const every of ['9s', '31d'])
      await assert.rejects(
        call(program, 'add', { name: 'alive', webhook: 'dog', every }),
        refusal('invalid_argument', /^every: expected at least 10s and at most 30d\.$/),
      );
    const added = await call(program, 'add', { name: 'alive', webhook: 'dog', every: '10m' });
    assert.deepEqual([added.name, added.webhook, added.every, added.state], ['alive', 'dog', '10m', 'waiting']);
    await assert.rejects(
      call(program, 'add', { name: 'alive', webhook: 'dog', every: '10m' }),
      refusal('duplicate', /^name: /),
    );
    assert.deepEqual(await store.write((tx) => watchesOf(tx, 'dog')), ['alive']);
    assert.deepEqual(await store.write((tx) => watchesOf(tx, 'cat')), []);
    await assert.rejects(
      callLocally(program, 'webhook.remove', { name: 'dog' }),
      refusal('conflict', /^The watch alive listens to the webhook dog: svc deadman remove alive first\.$/),
    );
    await store.write((tx) => markHeard(tx, 'h'));
    assert.deepEqual(await states(program), ['alive heard']);
    const [watch] = await listWatches(store.db);
    assert.equal(await store.write((tx) => tripWatch(tx, watch!, tx.now)), true);
    assert.deepEqual(await states(program), ['alive silent']);
    const removed = await call(program, 'remove', { name: 'alive' });
    assert.deepEqual(removed, { ...added, state: 'silent', last_heard_at: removed.last_heard_at });
    assert.notEqual(removed.last_heard_at, null);
    assert.deepEqual(await states(program), []);
    await assert.rejects(
      call(program, 'remove', { name: 'alive' }),
      refusal('not_found', /^There is no watch alive\.$/),
    );
    await callLocally(program, 'webhook.remove', { name: 'dog' });
  });
}
