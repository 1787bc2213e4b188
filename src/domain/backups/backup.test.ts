import assert from 'node:assert/strict';
import { test } from 'node:test';
import { backupFileName, backupIdOf, idOfBackupFile, partialFileName } from './backup.ts';
import { readBackupHead } from './head.ts';

const JOB = 'job_01m7yd4zyke00anp2z332d2j5p';
const ID = 'bak_01m7yd4zyke00anp2z332d2j5p';

test('the name of a file has the name, the time and the id of its backup', () => {
  const file = backupFileName({ name: 'nightly.eu-1' }, ID, Date.UTC(2026, 10, 22, 18, 5, 9, 250));
  assert.equal(file, `nightly.eu-1-20261122T180509Z-${ID}.backup`);
  assert.equal(idOfBackupFile(file), ID);
  assert.equal(backupIdOf(JOB), ID);
});

test('T24: no other name is that of a backup', () => {
  for (const name of [
    partialFileName(JOB),
    `../store-20261122T180509Z-${ID}.backup`,
    `store-20261122T180509Z-${ID}.backup/../x`,
    `/etc/store-20261122T180509Z-${ID}.backup`,
    `store-20261122T180509Z-${ID}.backup\n`,
    `store-${ID}.backup`,
    'gatehouse.db',
    '',
  ])
    assert.equal(idOfBackupFile(name), null, name);
});

test('a head without one of its fields is not read', () => {
  const head = {
    format: 'sqlite',
    id: ID,
    job_id: JOB,
    name: 'store',
    created_at: 1,
    version: '0',
    schema: 1,
    jobs: 0,
  };
  assert.deepEqual(readBackupHead({ ...head, heads: [] }), { ...head, heads: [] });
  for (const other of [null, 'text', head, { ...head, heads: [], jobs: '0' }, { ...head, heads: [], name: undefined }])
    assert.equal(readBackupHead(other), null);
});
