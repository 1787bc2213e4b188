import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RE2JS } from '@bufbuild/re2';
import * as fc from 'fast-check';
import { anchoredLiterals } from './literals.ts';

test('A pattern that lists whole texts is read as these texts', () => {
  for (const [pattern, texts] of [
    ['^a$', ['a']],
    ['^web-1\\.example\\.org:9100$', ['web-1.example.org:9100']],
    ['^(a|b c|)$', ['a', 'b c', '']],
    ['^(?:x\\|y)$', null],
    ['^é😀$', ['é😀']],
    ['^$', ['']],
  ] as const)
    assert.deepEqual(anchoredLiterals(pattern), texts, pattern);
});

test('Any other pattern is left to the library', () => {
  for (const pattern of [
    'a',
    '^a',
    'a$',
    '^a|b$',
    '^a.$',
    '^a*$',
    '^(a|b)+$',
    '^(a)(b)$',
    '^[ab]$',
    '^\\d$',
    '(?i)^a$',
  ])
    assert.equal(anchoredLiterals(pattern), null, pattern);
});

test('What is read as texts matches exactly these', () => {
  const part = fc.string({ unit: fc.constantFrom(...'ab-/:.\\|()[]^$*+?{}\n é'.split('')), maxLength: 6 });
  fc.assert(
    fc.property(part, fc.constantFrom('', '(', '(?:'), part, (inside, opened, text) => {
      const pattern = `^${opened}${inside}${opened === '' ? '' : ')'}$`;
      const texts = anchoredLiterals(pattern);
      if (texts === null) return;
      const compiled = RE2JS.compile(pattern);
      for (const each of [...texts, text]) assert.equal(compiled.test(each), texts.includes(each), pattern);
    }),
    { numRuns: 3_000 },
  );
});
