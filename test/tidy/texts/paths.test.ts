/** What the texts of the repository name is there, and no merge has left its marks. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import * as paths from './paths.ts';
import { repositoryFiles } from '../repository.ts';
import { assertNone, bites, type Finding, type TextFile } from '../source.ts';

const FILES = repositoryFiles(join(import.meta.dirname, '..', '..', '..'));
const TEXTS = FILES.flatMap(({ path, text }): TextFile[] => (text === undefined ? [] : [{ path, text }]));

const lostIn = (text: string): Finding[] => paths.lostPaths({ path: 'docs/a.md', text }, new Set(['src/a.ts']));

test('A document names files that are there', () => {
  const there = new Set(FILES.map(({ path }) => path));
  assertNone(
    TEXTS.flatMap((text) => paths.lostPaths(text, there)),
    paths.WHY,
  );
  bites(lostIn('`src/a.ts`, src/b.ts.'), /names src\/b\.ts/);
  assert.deepEqual(lostIn('src/a.ts, src/a.test.ts:3 is not there').length, 1);
  assert.deepEqual(lostIn('`runners/src/b.ts`, src/<area>/b.ts, src/*.ts, https://a.example/src/b.ts'), []);
});

test('No file has the marks of a merge', () => {
  assertNone(TEXTS.flatMap(paths.conflictMarks), paths.CONFLICT_WHY);
  for (const mark of ['<', '>', '|'])
    bites(paths.conflictMarks({ path: 'src/a.ts', text: `a\n${mark.repeat(7)} HEAD\n` }), /src\/a\.ts has a mark/);
  assert.deepEqual(paths.conflictMarks({ path: 'docs/a.md', text: 'Title\n=======\n> text\n' }), []);
});
