import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdtempSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { closedFolder, placeProgram, temporaryFolder } from '../../scripts/tests/open-folder.ts';
import { find, needs } from '../support/tools.ts';

function folderFor(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-tools-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

describe('What a test needs', () => {
  it('names what the machine does not have, so that the test is left out', () => {
    assert.equal(needs(), false);
    for (const name of ['git', 'zsh', 'fish'] as const)
      assert.equal(needs(name), find(name) === null ? `missing: ${name}` : false);
  });

  it('is found on the search path, by absolute folders and executable files only', (t) => {
    const folder = folderFor(t);
    writeFileSync(join(folder, 'tool'), '');
    assert.equal(find('tool', folder), null);
    chmodSync(join(folder, 'tool'), 0o755);
    assert.equal(find('tool', `.:${folder}`), join(folder, 'tool'));
  });
});

describe('A program that jobs of tests run', () => {
  it('lies in a folder that every account reaches, also where it was made for one account', (t) => {
    const folder = folderFor(t);
    const closed = join(folder, 'closed');
    mkdirSync(closed, { mode: 0o700 });
    writeFileSync(join(closed, 'tool'), '#!/bin/sh\n', { mode: 0o700 });
    chmodSync(folder, 0o755);
    const placed = placeProgram(join(closed, 'tool'), join(folder, 'open'));
    assert.equal(placed, join(folder, 'open', 'tool'));
    assert.equal(statSync(placed).mode & 0o777, 0o755);
    assert.equal(statSync(join(closed, 'tool')).mode & 0o777, 0o700);
    rmSync(join(closed, 'tool'));
    assert.ok(existsSync(placed));
  });

  it(
    'is not looked for below a folder that stops the account of jobs',
    { skip: process.getuid?.() !== 0 && 'only a daemon of root runs jobs as another account' },
    (t) => {
      const folder = folderFor(t);
      mkdirSync(join(folder, 'inner'));
      chmodSync(folder, 0o700);
      assert.equal(closedFolder(join(folder, 'inner')), folder);
      chmodSync(folder, 0o711);
      chmodSync(join(folder, 'inner'), 0o755);
      assert.equal(closedFolder(join(folder, 'inner')), null);
    },
  );
});

describe('The folder for temporary files', () => {
  for (const [what, folder] of [
    ['is missing', '/nonexistent'],
    ['is a file', '/dev/null'],
  ] as const)
    it(`is named with its variable where it ${what}`, () => {
      const { TMPDIR } = process.env;
      process.env['TMPDIR'] = folder;
      try {
        assert.throws(temporaryFolder, {
          message: new RegExp(`^The folder for temporary files, ${folder}, cannot be used: .*\\. Set TMPDIR to a `),
        });
      } finally {
        if (TMPDIR === undefined) delete process.env['TMPDIR'];
        else process.env['TMPDIR'] = TMPDIR;
      }
    });
});
