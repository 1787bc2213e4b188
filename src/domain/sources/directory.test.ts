import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  changedDirectory,
  changeOf,
  type DirectoryIdentity,
  readKept,
  RUN_WORDS,
  sourceWords,
  withKept,
  workspaceWords,
} from './directory.ts';

const KEPT: DirectoryIdentity = { device: '2049', inode: '17', owner: 1000, boot: 'b1' };
const WORDS = sourceWords('net');

test('T86: a directory is another one by inode or owner, and within a boot by device', () => {
  for (const [found, change] of [
    [{}, null],
    [{ inode: '18' }, 'another'],
    [{ device: '2050' }, 'another'],
    [{ device: '2050', boot: 'b2' }, null],
    [{ inode: '18', boot: 'b2' }, 'another'],
    [{ owner: 0 }, { owner: 0, before: 1000 }],
    [
      { owner: 0, boot: 'b2' },
      { owner: 0, before: 1000 },
    ],
    [{ owner: 0, inode: '18' }, 'another'],
  ] as const)
    assert.deepEqual(changeOf(KEPT, { ...KEPT, ...found }), change, JSON.stringify(found));
});

const words = (...given: Parameters<typeof changedDirectory>): string => changedDirectory(...given).message;

test('T86: the refusal names whose directory it is, what changed and what to do, and no path', () => {
  assert.equal(
    words(WORDS, 'another'),
    'The directory of source net is not the one that was named: another folder is at its path now. ' +
      'Nothing of it is used. If this change is yours: svc source sync net',
  );
  assert.match(words(WORDS, 'link'), /leads through a symbolic link\. .*: svc source add net --dir DIR --replace$/);
  assert.match(
    words(workspaceWords('prod'), { owner: 0, before: 1000 }),
    /^The directory of workspace prod .*: its owner was user 1000, and is user 0 now\. .* update prod --dir DIR$/,
  );
  assert.match(words(RUN_WORDS, 'another'), /^The directory of this run .*: ask for a new run with --dir DIR$/);
});

test('T86: what was kept is read for this machine alone, and what is damaged is another directory', () => {
  const column = withKept(withKept(null, 'web1', KEPT), 'web2', { ...KEPT, inode: '99' });
  assert.deepEqual(readKept(column, 'web1', WORDS), KEPT);
  assert.equal(readKept(column, 'web2', WORDS)?.inode, '99');
  assert.equal(readKept(column, 'web3', WORDS), null);
  assert.equal(readKept(null, 'web1', WORDS), null);
  assert.deepEqual(readKept(withKept(column, 'web1', { ...KEPT, owner: 5 }), 'web1', WORDS), { ...KEPT, owner: 5 });
  for (const value of ['null', '1', '{}', '{"device":1,"inode":"1","owner":0,"boot":"b"}'])
    assert.throws(() => readKept(`{"web1":${value}}`, 'web1', WORDS), /another folder/, value);
  for (const text of ['', '{', '[]', 'null', '7']) assert.equal(readKept(text, 'web1', WORDS), null, text);
});

test('T86: the column has the machines that were named last, in bounds', () => {
  let column: string | null = null;
  for (let at = 0; at < 100; at += 1) column = withKept(column, `web${at}`, KEPT);
  const names = Object.keys(JSON.parse(column ?? '') as object);
  assert.deepEqual([names.length, names[0], names.at(-1)], [32, 'web68', 'web99']);
});
