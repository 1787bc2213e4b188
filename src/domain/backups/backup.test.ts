import assert from 'node:assert/strict';
import { test } from 'node:test';
import { backupFileName, backupIdOf, fileOfBackup, idOfBackupFile, partialFileName } from './backup.ts';
import { jobIdPart } from '../path-part.ts';
import { readBackupHead } from './head.ts';

const JOB = jobIdPart('job_01m7yd4zyke00anp2z332d2j5p');
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

test('T81: a row names the file of its backup, and no other', () => {
  const file = backupFileName({ name: 'store' }, ID, 0);
  assert.equal(fileOfBackup({ id: ID, file }), file);
  for (const other of [`../${file}`, `/etc/${file}`, 'gatehouse.db', '..', '', `${file}\0`, file.replace(ID, JOB)])
    assert.equal(fileOfBackup({ id: ID, file: other }), null, other);
  assert.equal(fileOfBackup({ id: '..', file }), null);
  for (const name of ['../store', '', '-x', '.x', 'a/b'])
    assert.throws(() => backupFileName({ name }, ID, 0), /the name of the backup is malformed/);
  assert.throws(() => backupFileName({ name: 'store' }, '../x', 0), /the id of the backup is malformed/);
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
