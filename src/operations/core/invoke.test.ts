import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openTestStore } from '../../../test/support/store/job-store.ts';
import { localCaller } from '../../domain/access/caller.ts';
import { Failure } from '../../domain/failure.ts';
import { nextTurn } from '../../lib/flow/cooperative.ts';
import { type Runtime, invoke } from './invoke.ts';
import { OPERATIONS } from '../table.ts';

test('an operation whose answer holds a secret takes no idempotency key, and nothing is read or written', async () => {
  const untouched = new Proxy({}, { get: () => assert.fail('it must be refused before anything is touched') });
  const runtime = { store: untouched, services: untouched } as Runtime;
  const [create] = OPERATIONS.filter((row) => row.id === 'token.create');
  const invocation = { caller: localCaller('test'), raw: { name: 'ci', scope: 'operator' }, idempotencyKey: 'k' };
  await assert.rejects(invoke(runtime, create!, invocation), (error) => {
    assert.ok(error instanceof Failure);
    assert.equal(error.code, 'invalid_argument');
    assert.match(error.message, /^Idempotency-Key: token\.create takes none/);
    return true;
  });
});

test('F08: an answer waits until what it shows would survive a power cut', async (t) => {
  const setup = await openTestStore();
  t.after(() => setup.close());
  const flush = Promise.withResolvers<void>();
  const runtime = { store: { ...setup.store, durable: () => flush.promise }, services: {} } as Runtime;
  const [list] = OPERATIONS.filter((row) => row.id === 'source.list');
  const answer = invoke(runtime, list!, { caller: localCaller('test'), raw: {} });
  assert.equal(
    await Promise.race([answer, nextTurn().then(nextTurn)]),
    undefined,
    'answered before the disk confirmed',
  );
  flush.resolve();
  assert.equal((await answer).status, 200);
});
