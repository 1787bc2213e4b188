import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isId } from '../lib/id.ts';
import { NAME } from './name.ts';

/**
 * What would be an option, a path, another argument, another line or a look-alike, where a name is put on a command
 * line.
 */
const PAYLOADS = [
  '-',
  '--',
  '-x',
  '-h',
  '-v',
  '-vvv',
  '-chdir=/',
  '-chdir=/etc',
  '--help',
  '--version',
  '--orphan',
  '--upload-pack=id',
  '--exec=id',
  '--syntax-check',
  '--vault-password-file=/etc/shadow',
  '-e@/etc/passwd',
  '-oProxyCommand=id',
  '-var=a=b',
  '-auto-approve',
  '-out=/tmp/x',
  '-lock=false',
  '-target=x',
  '-state=/x',
  '-refresh=false',
  '--config=core.sshCommand=id',
  '-c',
  '-f/etc/passwd',
  '--=x',
  '-\u00a0',
  '−x',
  '–x',
  '—help',
  '.',
  '..',
  '.hidden',
  '../x',
  'a/../b',
  'a/b',
  '/etc/passwd',
  'a\\b',
  '~',
  '~root',
  'a b',
  ' a',
  'a ',
  '\ta',
  'a\n',
  'a\n--help',
  'a\r',
  'a\0',
  'a\0--help',
  'a;id',
  'a|id',
  'a&id',
  '$(id)',
  '`id`',
  '${IFS}id',
  'a=b',
  'a:b',
  '@a',
  '+a',
  '_a',
  '%2d',
  'a%00',
  'a*',
  '?',
  '[a]',
  '{a,b}',
  '!a',
  '#a',
  '"a"',
  "'a'",
  'A',
  'Main',
  'ä',
  'аdmin',
  'ａ',
  'a\u200b',
  'a\u202e',
  '\ufeffa',
  '',
  'a'.repeat(64),
];

const BODY = '01hz3v6k2n8q4r7s9t0w1x2y3z';
/** Each id form that reaches a tool, a path or a statement. */
const PREFIXES = ['art', 'job', 'apr', 'evt', 'tok'];

describe('T14: a name', () => {
  it('is tried with at least 60 payloads', () => {
    assert.ok(new Set(PAYLOADS).size >= 60);
  });

  it('of a workspace, source, secret or project never equals a payload', () => {
    for (const payload of PAYLOADS) {
      assert.equal(NAME.test(payload), false, JSON.stringify(payload));
    }
  });

  it('that is ordinary is accepted', () => {
    for (const each of ['net', 'a', '0', 'prod-eu.west_1', 'a--help', 'a..b', 'a'.repeat(63)]) {
      assert.equal(NAME.test(each), true, each);
    }
  });
});

describe('T14: an id', () => {
  it('of a plan or anything else never equals a payload, also with its prefix', () => {
    for (const prefix of PREFIXES) {
      for (const payload of PAYLOADS) {
        for (const form of [
          payload,
          `${prefix}_${payload}`,
          `${payload}${prefix}_${BODY}`,
          `${prefix}_${BODY}${payload}`,
        ]) {
          if (form === `${prefix}_${BODY}`) continue;
          assert.equal(isId(prefix, form), false, JSON.stringify(form));
        }
      }
    }
  });

  it('has the prefix of its kind and 26 characters', () => {
    for (const prefix of PREFIXES) assert.equal(isId(prefix, `${prefix}_${BODY}`), true);
    assert.equal(isId('art', `job_${BODY}`), false);
    assert.equal(isId('art', `art_${BODY.toUpperCase()}`), false);
    assert.equal(isId('art', `art_${BODY.slice(1)}`), false);
  });
});
