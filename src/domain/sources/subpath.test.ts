import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { NAME } from '../name.ts';
import { isSafeSubpath } from './subpath.ts';

/** Ways up and out, as they are spelt by people, by URLs, by other systems and by who hopes for a decoder. */
const UP = [
  '..',
  '../',
  './',
  '.',
  '...//..',
  '..;',
  '..%2f',
  '%2e%2e',
  '%2e%2e%2f',
  '..%2F',
  '%2E.',
  '.%2e',
  '%252e%252e%252f',
  '%25252e',
  '..%00',
  '%00',
  '..%5c',
  '%5c',
  '..\\',
  '\\..',
  '..%c0%af',
  '\u2025',
  '\uff0e\uff0e',
  '\u2024\u2024',
  '.\uff0e',
  '..\u2215',
  '..\u2044',
  '..\u29f8',
  '..\uff0f',
  '..\uff3c',
];
/** Places that somebody would like to reach. */
const GOALS = ['etc/passwd', 'seal.key', 'runs', '.ssh/id_ed25519'];
const ODD = [
  '',
  '/',
  '//',
  '///etc',
  '/etc/passwd',
  '//server/share',
  '\\\\server\\share',
  'C:\\x',
  'file:\\x',
  'a//b',
  'a/',
  '/a',
  'a/./b',
  'a/../b',
  'a/..',
  'a/b/../../..',
  ' ',
  ' a',
  'a ',
  'a/ b',
  'a /b',
  '\ta',
  'a\n',
  'a\r',
  'a\r\nb',
  'a\0',
  '\0',
  'a\0.tf',
  'a\u0001b',
  'a\u007fb',
  'a\u0085b',
  'a\u2028b',
  'a\u2029b',
  'a\u200bb',
  'a\u200db',
  'a\u202eb',
  'a\u2066b',
  'a\ufeffb',
  '\ud800',
  'a\udc00',
  'a\u00adb',
  '-',
  '-chdir=/',
  '--help',
  '-x/y',
  '.git',
  '.git/hooks',
  'a/.git',
  '.GIT/config',
  'a/.Git/x',
  '.terraform',
  'x/.terraform/plugins',
  '.TERRAFORM',
  `${'a/'.repeat(250)}a`,
  'a'.repeat(401),
  'a'.repeat(256),
  `a/${'b'.repeat(300)}`,
  'ä'.repeat(130),
] as const;
const PAYLOADS = [...ODD, ...UP.flatMap((up) => [up, ...GOALS.map((goal) => `${up}/${goal}`)])];

describe('the path of a root below its source', () => {
  it('is any folder that a person would make', () => {
    for (const path of [
      'net',
      'net/prod',
      'a/b/c/d',
      'modules/vpc-2',
      'Über/Straße',
      'with space/inside',
      '.github/x',
      '_x',
      '~x',
      'a..b',
      '..a',
      'a...',
      'x'.repeat(255),
      '環境/本番',
    ]) {
      assert.equal(isSafeSubpath(path), true, path);
    }
  });

  it('T24: never leads elsewhere, in 200 spellings', () => {
    assert.ok(new Set(PAYLOADS).size >= 200, String(new Set(PAYLOADS).size));
    const harmless = new Set(['..;', '..%c0%af'].flatMap((up) => [up, ...GOALS.map((goal) => `${up}/${goal}`)]));
    for (const path of PAYLOADS) {
      if (harmless.has(path)) assert.equal(path.split('/').includes('..'), false);
      else assert.equal(isSafeSubpath(path), false, JSON.stringify(path));
    }
  });

  it('T24: is no name of a source either', () => {
    for (const path of PAYLOADS)
      assert.equal(NAME.test(path), /^[a-z]+$/.test(path) && path.length < 64, JSON.stringify(path));
  });

  it('stays what it is however a file system normalises it', () => {
    for (const path of ['\uff0e\uff0e/x', 'a/\u2025/b', 'x\uff0fy/..', '\u2024\u2024', '\uff0fetc']) {
      const parts = path.normalize('NFKC').split('/');
      assert.ok(parts.includes('..') || parts.includes(''), JSON.stringify(parts));
      assert.equal(isSafeSubpath(path), false);
    }
  });
});
