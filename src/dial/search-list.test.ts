import assert from 'node:assert/strict';
import { test } from 'node:test';
import { candidates, readSearchList } from './search-list.ts';

test('The last search or domain line counts, and a comment does not', () => {
  const none = { domains: [], dots: 1 };
  assert.deepEqual(readSearchList(''), none);
  assert.deepEqual(readSearchList('nameserver 10.0.0.53\n# search a.test\n;search b.test\n'), none);
  assert.deepEqual(readSearchList('domain a.test b.test\n'), { domains: ['a.test'], dots: 1 });
  assert.deepEqual(readSearchList('domain a.test\nsearch  b.test\tc.test # both\noptions edns0 ndots:5 ndots:2'), {
    domains: ['b.test', 'c.test'],
    dots: 2,
  });
  assert.deepEqual(readSearchList('search a b c d e f g h\noptions ndots:999'), {
    domains: ['a', 'b', 'c', 'd', 'e', 'f'],
    dots: 15,
  });
  assert.deepEqual(readSearchList('search .'), none);
  // Long comments of one character are read in linear time.
  assert.deepEqual(readSearchList(`${';'.repeat(200_000)}\u2028`), none);
});

test('A name with enough dots is asked as it is first, and a complete one only so', () => {
  const list = { domains: ['a.test', 'b.test.'], dots: 1 };
  assert.deepEqual(candidates('web', list), ['web.a.test', 'web.b.test', 'web']);
  assert.deepEqual(candidates('web.x', list), ['web.x', 'web.x.a.test', 'web.x.b.test']);
  assert.deepEqual(candidates('web.x', { ...list, dots: 2 }), ['web.x.a.test', 'web.x.b.test', 'web.x']);
  assert.deepEqual(candidates('web.x.', list), ['web.x']);
  assert.deepEqual(candidates('web', { domains: [], dots: 1 }), ['web']);
});
