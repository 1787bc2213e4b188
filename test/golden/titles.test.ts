import { join } from 'node:path';
import { test } from 'node:test';
import { assertNoTitleLost } from '../support/golden-titles.ts';
import { repositoryFiles } from '../tidy/repository.ts';
import { parse } from '../tidy/source.ts';
import { titlesOf } from '../tidy/tests.ts';

const ROOT = join(import.meta.dirname, '..', '..');

test('No test is lost: each title that there was is there, wherever its file is now', async () => {
  const files = repositoryFiles(ROOT).flatMap(({ path, text }) =>
    text !== undefined && path.endsWith('.test.ts') ? [{ path, text }] : [],
  );
  assertNoTitleLost(join(import.meta.dirname, 'titles.txt'), titlesOf(await parse(files)));
});
