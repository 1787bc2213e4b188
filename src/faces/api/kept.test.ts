import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerOf, isNamed, KeptAnswers } from './kept.ts';

test('Equal bytes have equal tags, others have others', () => {
  assert.equal(answerOf('a').etag, answerOf('a').etag);
  assert.notEqual(answerOf('a').etag, answerOf('b').etag);
  assert.match(answerOf('a').etag, /^"[\w-]{22}"$/);
});

test('An answer is found under its key until the counter changes, and never again after', () => {
  const kept = new KeptAnswers(1_000_000);
  const answer = answerOf('one');
  kept.keep('1', 'k', answer);
  assert.equal(kept.find('1', 'k'), answer);
  assert.equal(kept.find('1', 'other'), undefined);
  assert.equal(kept.find('2', 'k'), undefined);
  kept.keep('2', 'other', answerOf('two'));
  assert.equal(kept.find('2', 'k'), undefined);
  assert.equal(kept.find('1', 'k'), undefined);
});

test('Without a change counter nothing is kept', () => {
  const kept = new KeptAnswers(1_000_000);
  kept.keep(null, 'k', answerOf('one'));
  assert.deepEqual([kept.find(null, 'k'), kept.bytes], [undefined, 0]);
});

test('The cache is bounded: the oldest entry is dropped first, and a too large one is never kept', () => {
  const kept = new KeptAnswers(100_000);
  for (let i = 0; i < 1_000; i += 1) {
    kept.keep('1', `k${i}`, answerOf('x'.repeat(5_000)));
    assert.ok(kept.bytes <= 100_000);
  }
  assert.equal(kept.find('1', 'k0'), undefined);
  assert.notEqual(kept.find('1', 'k999'), undefined);
  kept.keep('1', 'large', answerOf('x'.repeat(50_000)));
  assert.equal(kept.find('1', 'large'), undefined);
});

test('If-None-Match names a tag alone, weakly, in a list, or with an asterisk', () => {
  for (const header of ['"a"', 'W/"a"', '"b", "a"', '"b",W/"a"', '*', ' * '])
    assert.equal(isNamed('"a"', header), true, header);
  for (const header of [undefined, '', 'a', '"b"', '"A"', '"a', 'w/"a"'])
    assert.equal(isNamed('"a"', header), false, header ?? 'none');
});
