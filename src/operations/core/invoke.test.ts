import assert from 'node:assert/strict';
import { test } from 'node:test';
import { localCaller } from '../../domain/access/caller.ts';
import { Failure } from '../../domain/failure.ts';
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
