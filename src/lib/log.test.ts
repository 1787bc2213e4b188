import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loggedError } from './log.ts';

test('an error is logged with its name, code, stack and cause, and without what else it carries', () => {
  const refused = Object.assign(new Error('violates a constraint'), {
    code: '23514',
    detail: 'Failing row contains (s3cret)',
  });
  const logged = loggedError(new TypeError('the write failed', { cause: refused }));
  assert.equal(logged.type, 'TypeError');
  assert.match(logged.stack, /^TypeError: the write failed\n/);
  assert.equal(logged.cause?.code, '23514');
  assert.doesNotMatch(JSON.stringify(logged), /s3cret/);
});

test('what is thrown and is no error is not logged: it may be any value', () => {
  assert.deepEqual(loggedError('s3cret'), { type: 'string', stack: '' });
});
