import assert from 'node:assert/strict';
import { test } from 'node:test';
import { id, name } from './fields.ts';

/** What a tool would read as an option, a path, a URL, or as nothing at all. */
const SMUGGLED = [
  '-',
  '--',
  '-x',
  '--help',
  '-chdir=/',
  '--vault-password-file=/etc/shadow',
  '-vvv',
  '--syntax-check',
  '--orphan',
  '-destroy',
  '-var=a=b',
  '-out=/tmp/x',
  '--upload-pack=touch x',
  '-oProxyCommand=x',
  '-F/dev/null',
  '—help',
  '−x',
  ' -x',
  '\t-x',
  '\n-x',
  '-x\0',
  '',
  ' ',
  '.',
  '..',
  './x',
  '../x',
  '../../etc/passwd',
  '/etc/passwd',
  '//x',
  'a/b',
  'a\\b',
  'a b',
  'a\tb',
  'a\nb',
  'a\0b',
  'a;b',
  'a|b',
  'a&b',
  'a$b',
  'a`b',
  'a"b',
  "a'b",
  'a*b',
  'a?b',
  'a[b',
  'a{b',
  'a~b',
  'a!b',
  'a#b',
  'a%2e',
  'a=b',
  'a:b',
  'a@b',
  'a,b',
  'A',
  'ä',
  'a\u200b',
  'ａ',
  '_a',
  '.a',
  'a'.repeat(64),
  '${x}',
  '{{x}}',
  'file:///x',
  'ext::sh',
  'a\r',
];

test('T14: nothing that a tool could read as an option, a path or a command is a name or an id', () => {
  assert.ok(SMUGGLED.length >= 60);
  for (const text of SMUGGLED) {
    assert.equal(name.safeParse(text).success, false, JSON.stringify(text));
    for (const prefix of ['art', 'apr', 'job'])
      assert.equal(id(prefix).safeParse(text).success, false, JSON.stringify(text));
  }
  for (const text of [
    'art_--help',
    'art_',
    'art_01m7yd4zyke00anp2z332d2j5',
    'art_01m7yd4zyke00anp2z332d2j5pp',
    'ART_01m7yd4zyke00anp2z332d2j5p',
    'job_01m7yd4zyke00anp2z332d2j5p',
    '-art_01m7yd4zyke00anp2z332d2j5p',
  ]) {
    assert.equal(id('art').safeParse(text).success, false, text);
  }
  assert.equal(id('art').safeParse('art_01m7yd4zyke00anp2z332d2j5p').success, true);
});
