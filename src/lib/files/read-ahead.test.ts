import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { readAhead } from './read-ahead.ts';

const openDescriptors = (): number => readdirSync('/proc/self/fd').length;

suite('a file that is read ahead', () => {
  test('is whole, or null where it is missing, no file or too large; no descriptor stays open', async (t) => {
    const dir = mkdtempSync(join(tmpdir(), 'gatehouse-ahead-'));
    t.after(() => rmSync(dir, { recursive: true, force: true }));
    const [file, large] = [join(dir, 'file'), join(dir, 'large')];
    writeFileSync(file, 'all of it');
    writeFileSync(large, '');
    truncateSync(large, 2 ** 31);
    const before = openDescriptors();
    assert.equal(String(await readAhead(file)), 'all of it');
    for (const bad of [join(dir, 'missing'), dir, large]) assert.equal(await readAhead(bad), null, bad);
    assert.equal(openDescriptors(), before);
  });
});
