import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Failure } from './failure.ts';
import { affixed, entryPath, idPartIn, jobIdPart, namePart, pathPart } from './path-part.ts';

const ID = 'job_01m7yd4zyke00anp2z332d2j5p';

const NO_PARTS = [
  '',
  '.',
  '..',
  '../x',
  'a/b',
  '/a',
  'a/',
  '-rf',
  '.hidden',
  'a\0b',
  'a\n',
  ' a',
  'a b',
  'a\\b',
  'a%2fb',
  '\u2025',
  'a\u2215b',
  'a'.repeat(201),
  'a'.repeat(10 * 1024),
];

const isMalformed = (what: string) => (error: unknown) =>
  error instanceof Failure &&
  error.code === 'forbidden' &&
  error.message === `Integrity: the ${what} is malformed. Nothing was run.`;

test('T81: only the name of one entry becomes a part of a path', () => {
  for (const text of NO_PARTS) {
    assert.throws(() => pathPart('digest', text), isMalformed('digest'), JSON.stringify(text));
    assert.throws(() => namePart('name of the source', text), isMalformed('name of the source'));
    assert.throws(() => jobIdPart(text), isMalformed('id of this job'));
    assert.equal(idPartIn('job', text), null);
  }
  for (const text of ['a', 'A_1', 'a.b-c', '0123abcd', 'a..b', 'a'.repeat(200)])
    assert.equal(pathPart('x', text), text);
});

test('T81: an id has its prefix and its form, and a name the form of names', () => {
  assert.equal(jobIdPart(ID), ID);
  assert.equal(idPartIn('dmn', ID), null);
  for (const text of [ID.toUpperCase(), `${ID}0`, `${ID}.outer`, ID.slice(0, -1)])
    assert.throws(() => jobIdPart(text), isMalformed('id of this job'));
  assert.equal(namePart('name', 'nightly.eu-1'), 'nightly.eu-1');
  assert.throws(() => namePart('name', 'Nightly'), isMalformed('name'));
});

test('what the service puts around a part leads nowhere', () => {
  const part = jobIdPart(ID);
  assert.equal(entryPath('/runs', affixed('.staged-', part, '.gone')), `/runs/.staged-${ID}.gone`);
  for (const affix of ['../', '/', 'a/b', '\0']) {
    assert.throws(() => affixed(affix, part));
    assert.throws(() => affixed('', part, affix));
  }
});
