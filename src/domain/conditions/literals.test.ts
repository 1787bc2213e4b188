import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RE2JS } from '@bufbuild/re2';
import * as fc from 'fast-check';
import { anchoredLiterals, anchoredPrefix } from './literals.ts';

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

test('What every match of a pattern begins with is read from its beginning', () => {
  for (const [pattern, prefix] of [
    ['^web-[0-9]+', 'web-'],
    ['^web\\.(a|b)', 'web.'],
    ['^Disk( |$)', 'Disk'],
    ['^ab*c', 'a'],
    ['^a\\\\-?', 'a\\'],
    ['^a😀{2}', 'a'],
    ['^a[]|]b', 'a'],
    ['^a?', null],
    ['^Disk(?i)?full', 'Dis'],
    ['^ab(?s)(?m)*', 'a'],
    ['^a(?i)b', null],
    ['^ab(?:c|d)', 'ab'],
    ['^a|b', null],
    ['^a.|b', null],
    ['^a(b|c)|d', null],
    ['^a\\Q(\\E|b', null],
    ['^(?i)a', null],
    ['a', null],
    ['(^a)', null],
  ] as const)
    assert.equal(anchoredPrefix(pattern), prefix, pattern);
});

test('No text without the prefix matches', () => {
  let matches = 0;
  const escaped = fc.constantFrom('\\.', '\\\\', '\\d', '\\Q', '\\E', '(?i)', '(?s)', '(?:', 'A');
  const signs = fc.oneof(fc.constantFrom(...'ab-|()[]^$*+?{}1,.'.split(''), '😀'), escaped);
  const inside = fc.array(signs, { maxLength: 8 }).map((all) => all.join(''));
  const texts = fc.array(fc.string({ unit: fc.constantFrom('a', 'b', '-', '😀', '.', '\\', '1', 'A'), maxLength: 4 }), {
    minLength: 8,
    maxLength: 8,
  });
  fc.assert(
    fc.property(inside, texts, (rest, some) => {
      const prefix = anchoredPrefix(`^${rest}`);
      if (prefix === null) return;
      let compiled: RE2JS;
      try {
        compiled = RE2JS.compile(`^${rest}`);
      } catch {
        return;
      }
      for (const text of some) {
        if (!compiled.test(text)) continue;
        matches += 1;
        assert.ok(text.startsWith(prefix), `^${rest} of ${text}`);
      }
    }),
    { numRuns: 20_000 },
  );
  assert.ok(matches > 200, `${matches} matches`);
});
