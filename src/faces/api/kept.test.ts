import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerOf, isNamed } from './kept.ts';

test('Equal bytes have equal tags, others have others', () => {
  assert.equal(answerOf('a').etag, answerOf('a').etag);
  assert.notEqual(answerOf('a').etag, answerOf('b').etag);
  assert.match(answerOf('a').etag, /^"[\w-]{22}"$/);
});

test('If-None-Match names a tag alone, weakly, in a list, or with an asterisk', () => {
  for (const header of ['"a"', 'W/"a"', '"b", "a"', '"b",W/"a"', '*', ' * '])
    assert.equal(isNamed('"a"', header), true, header);
  for (const header of [undefined, '', 'a', '"b"', '"A"', '"a', 'w/"a"'])
    assert.equal(isNamed('"a"', header), false, header ?? 'none');
});
