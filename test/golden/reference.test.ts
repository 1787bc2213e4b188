import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { referencePages } from '../../scripts/reference.ts';

const FOLDER = join(import.meta.dirname, '..', '..', 'docs', 'reference');

for (const [file, text] of Object.entries(referencePages())) {
  test(`docs/reference/${file} says what the tables say`, () => {
    const path = join(FOLDER, file);
    if (process.env['GATEHOUSE_UPDATE_GOLDEN'] === '1') writeFileSync(path, text);
    assert.equal(readFileSync(path, 'utf8'), text, 'run: npm run golden');
  });
}
