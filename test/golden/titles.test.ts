import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { repositoryFiles } from '../tidy/repository.ts';
import { parse } from '../tidy/source.ts';
import { lostTitles, withNewTitles } from '../tidy/tests.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const GOLDEN = join(import.meta.dirname, 'titles.txt');

test('No test is lost: each title that there was is there, wherever its file is now', async () => {
  const files = repositoryFiles(ROOT).flatMap(({ path, text }) =>
    text !== undefined && path.endsWith('.test.ts') ? [{ path, text }] : [],
  );
  const sources = await parse(files);
  const golden = readFileSync(GOLDEN, 'utf8');
  const whole = withNewTitles(golden, sources);
  if (process.env['GATEHOUSE_UPDATE_GOLDEN'] === '1') writeFileSync(GOLDEN, whole);
  assert.deepEqual(
    lostTitles(golden, sources),
    [],
    'A test that is really to go loses its line in titles.txt by hand.',
  );
  assert.equal(readFileSync(GOLDEN, 'utf8'), whole, 'run: npm run golden');
  assert.deepEqual(lostTitles('A title that no test has\n', sources), ['A title that no test has']);
});
