import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lineForPeople, loggedError } from './log.ts';

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

const paint = (format: string, text: string) => `<${format}>${text}</>`;

test('a line for people has the time, a word for the level, the facts and the first line of an error', () => {
  const time = '2026-11-23T22:03:11.123Z';
  const line = (entry: object) => lineForPeople(JSON.stringify({ time, ...entry }), paint);
  assert.equal(
    line({ level: 40, jobId: 'job_1', state: 'failed', exitCode: 1, msg: 'job finished' }),
    '<dim>22:03:11 UTC</>  <yellow>WARN </>  job finished  jobId=job_1  state=failed  exitCode=1\n',
  );
  const err = loggedError(new TypeError('no write', { cause: new Error('ended') }));
  assert.equal(
    line({ level: 50, err, msg: 'pass failed' }),
    '<dim>22:03:11 UTC</>  <red>ERROR</>  pass failed  TypeError: no write (Error: ended)\n',
  );
  assert.match(line({ level: 30, path: '/\u001b[2J\n\u202e', msg: 'x' }), /path=\/ \[2J {2}\n$/);
});
