import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { dataDirPaths, type DataDirPaths, modeText, prepareDataDir } from './data-dir.ts';
import { restoreModes } from './data-dir-modes.ts';
import { needs } from '../../test/support/tools.ts';

const NO_ROOT = needs('root');

const modeOf = (path: string): string => modeText(statSync(path).mode);

describe('The modes of the data directory', { skip: needs('Linux') }, () => {
  let dir: string;
  let paths: DataDirPaths;
  before(async () => {
    dir = realpathSync(mkdtempSync(join(tmpdir(), 'gatehouse-modes-')));
    paths = await prepareDataDir(join(dir, 'data'));
    for (const file of [paths.database, paths.sealKey]) writeFileSync(file, '', { mode: 0o600 });
  });
  after(() => rmSync(dir, { recursive: true }));

  it('are left as they are where they will do', () => {
    assert.deepEqual(restoreModes(paths), []);
    chmodSync(paths.sealKey, 0o400);
    assert.deepEqual([restoreModes(paths), modeOf(paths.sealKey)], [[], '0400']);
    assert.deepEqual(restoreModes(dataDirPaths(join(dir, 'nothing'))), []);
  });

  it('T71: are put right where a job closed them or opened them, the outermost folder first', () => {
    for (const [path, mode] of [
      [paths.runs, 0],
      [paths.database, 0o666],
      [paths.sealKey, 0o444],
      [paths.dir, 0o777],
    ] as const)
      chmodSync(path, mode);
    assert.deepEqual(restoreModes(paths), [
      { entry: '.', found: '0777', set: '0700' },
      { entry: 'runs', found: '0000', set: '0700' },
      { entry: 'gatehouse.db', found: '0666', set: '0600' },
      { entry: 'seal.key', found: '0444', set: '0600' },
    ]);
    assert.deepEqual([paths.dir, paths.runs, paths.database, paths.sealKey].map(modeOf), [
      '0700',
      '0700',
      '0600',
      '0600',
    ]);
    assert.deepEqual(restoreModes(paths), []);
  });

  it('T71: are not changed through a link, but for the key file that an operator keeps elsewhere', () => {
    const elsewhere = join(dir, 'elsewhere');
    mkdirSync(elsewhere, { mode: 0o755 });
    writeFileSync(join(elsewhere, 'file'), '', { mode: 0o644 });
    const linked = dataDirPaths(join(dir, 'linked'));
    mkdirSync(linked.dir, { mode: 0o700 });
    symlinkSync(elsewhere, linked.runs);
    symlinkSync(join(elsewhere, 'file'), linked.database);
    symlinkSync(join(elsewhere, 'file'), linked.sealKey);
    assert.deepEqual(restoreModes(linked), [{ entry: 'seal.key', found: '0644', set: '0600' }]);
    assert.equal(modeOf(elsewhere), '0755');
  });

  it('T71: are put right by an account that is not root, which cannot enter what was closed', { skip: NO_ROOT }, () => {
    chmodSync(dir, 0o755);
    const own = join(dir, 'own');
    mkdirSync(join(own, 'sources'), { recursive: true });
    writeFileSync(join(own, 'seal.key'), '');
    execFileSync('chown', ['-R', '64123:64123', own]);
    for (const path of ['sources', 'seal.key', '.']) chmodSync(join(own, path), 0);
    const script = `import { restoreModes } from ${JSON.stringify(join(import.meta.dirname, 'data-dir-modes.ts'))};
      import { dataDirPaths } from ${JSON.stringify(join(import.meta.dirname, 'data-dir.ts'))};
      process.seteuid(64123);
      const restored = restoreModes(dataDirPaths(${JSON.stringify(own)}));
      console.log(restored.map(({ entry, set }) => entry + ' ' + set).join());`;
    const said = execFileSync(process.execPath, ['--no-warnings', '--input-type=module', '-e', script], {
      encoding: 'utf8',
    });
    assert.equal(said, '. 0700,sources 0700,seal.key 0600\n');
  });
});
