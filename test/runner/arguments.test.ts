import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { WrongArgument } from '../../scripts/arguments.ts';
import { parseArguments } from '../../scripts/tests/arguments.ts';

/** A folder with two tests, one of them in an inner folder, a package with another one, and what is no test. */
function makeFolder(t: TestContext): string {
  const root = mkdtempSync(join(tmpdir(), 'gatehouse-arguments-'));
  t.after(() => rmSync(root, { recursive: true }));
  for (const folder of ['inner', 'node_modules', 'empty']) mkdirSync(join(root, folder));
  for (const file of ['a.test.ts', 'inner/b.test.ts', 'node_modules/c.test.ts', 'README.md'])
    writeFileSync(join(root, file), '');
  return root;
}

const wrong = (message: RegExp) => (error: unknown) => error instanceof WrongArgument && message.test(error.message);

describe('An argument of the runner', () => {
  test('names a test, those of a pattern, or those of a folder, each once', (t) => {
    const root = makeFolder(t);
    const files = (...named: string[]): readonly string[] =>
      parseArguments(
        named.map((each) => join(root, each)),
        root,
      ).files;
    assert.deepEqual(files('a.test.ts'), ['a.test.ts']);
    assert.deepEqual(files('*.test.ts', 'a.test.ts'), ['a.test.ts']);
    assert.deepEqual(files('', 'inner'), ['a.test.ts', 'inner/b.test.ts']);
  });

  test('is refused with a sentence where it names no test', (t) => {
    const root = makeFolder(t);
    const files = (named: string) => () => parseArguments([join(root, named)], root);
    assert.throws(files('none.test.ts'), wrong(/^There is no test file .*none\.test\.ts\.$/));
    assert.throws(files('README.md'), wrong(/README\.md is not a test: the name of one ends in \.test\.ts\.$/));
    assert.throws(files('empty'), wrong(/^There is no test in the folder .*empty\.$/));
    assert.throws(() => parseArguments(['--bogus'], root), wrong(/^Unknown option '--bogus'\.$/));
  });
});
