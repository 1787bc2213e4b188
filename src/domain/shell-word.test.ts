import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readableWord, shellWord } from './shell-word.ts';

test('T14: A word for a POSIX shell is one word, whatever it holds', () => {
  assert.equal(shellWord('a b'), "'a b'");
  assert.equal(shellWord("it's"), String.raw`'it'\''s'`);
  assert.equal(shellWord(''), "''");
});

test('A word for people has quotes only where a shell needs them', () => {
  assert.deepEqual(['-h', '/srv/a', 'a b', '$x', ''].map(readableWord), ['-h', '/srv/a', "'a b'", "'$x'", "''"]);
});
