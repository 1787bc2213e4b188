/** Files of other accounts in the folder of shared memory, which any local account may make there. */
import assert from 'node:assert/strict';
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { type Clock, systemClock } from '../../lib/clock.ts';
import { OwnedNames } from './owned-names.ts';
import { SharedMemory } from './shared-memory.ts';
import { HandClock } from '../../../test/support/clock.ts';
import { needs } from '../../../test/support/tools.ts';

/** No other test, also of another clone of the project, has processes of this account. */
const ID = 200_000 + process.pid;
const ACCOUNT = { name: 'gatehouse-test', uid: ID, gid: ID };
const MIB = 2 ** 20;

/** Each look at this clock is 10 ms later than the last one. */
function hastyClock(): Clock {
  let now = 0;
  return { ...systemClock, monotonic: () => (now += 10) };
}

describe('shared memory beside files of others', { skip: needs('Linux', 'root', 'Landlock ABI 4') }, () => {
  let folder: string;
  let clock: HandClock;
  let others = 0;
  beforeEach(() => {
    clock = new HandClock();
    folder = mkdtempSync('/dev/shm/gatehouse-others-');
    chmodSync(folder, 0o1777);
    writeFileSync(join(folder, 'other'), '');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  function ofOthers(count: number): void {
    for (let n = 0; n < count; n += 1) linkSync(join(folder, 'other'), join(folder, `other-${(others += 1)}`));
  }

  function own(name: string, bytes: number): string {
    const path = join(folder, name);
    writeFileSync(path, Buffer.alloc(bytes));
    chownSync(path, ID, ID);
    return path;
  }

  const open = (): SharedMemory => new SharedMemory(ACCOUNT, clock, folder);
  /** A count is good for a while. */
  const countsAgain = (): void => clock.advance(1_000);

  it('T78: files of others are no memory of a run, however many they are', async () => {
    const use = await open().begin();
    ofOthers(4_200);
    countsAgain();
    assert.equal(await use.grownBytes(), 0);
  });

  it('T78: files of others before a run do not hide what the run writes', async () => {
    ofOthers(4_200);
    const use = await open().begin();
    own('written', 3 * MIB);
    countsAgain();
    const grown = await use.grownBytes();
    assert.ok(grown >= 3 * MIB && grown < 4 * MIB, String(grown));
  });

  it('T78: each name of the account counts, also of an empty file', async () => {
    const use = await open().begin();
    for (let n = 0; n < 5_000; n += 1) own(`empty-${n}`, 0);
    countsAgain();
    assert.equal(await use.grownBytes(), 5_000 * 1_024);
  });

  it('T78: more names of one file, which another account may make, count once', async () => {
    const path = own('shared', 4 * MIB);
    const use = await open().begin();
    for (let n = 0; n < 500; n += 1) linkSync(path, join(folder, `link-${n}`));
    countsAgain();
    assert.ok((await use.grownBytes()) < MIB, String(await use.grownBytes()));
  });

  it('T91: what a job leaves is removed beside many files of others, whose folders stay closed', async () => {
    mkdirSync(join(folder, 'folder-of-other'));
    chmodSync(join(folder, 'folder-of-other'), 0o777);
    const inside = own('folder-of-other/inside', 1);
    mkdirSync(join(folder, 'own-folder'));
    chownSync(join(folder, 'own-folder'), ID, ID);
    own('own-folder/deep', 1);
    own('left', 1);
    // A folder in memory lists what is new first.
    ofOthers(52_000);
    await open().empty();
    const names = readdirSync(folder);
    assert.deepEqual(
      names.filter((name) => !name.startsWith('other')),
      ['folder-of-other'],
    );
    assert.deepEqual([names.length, existsSync(inside)], [52_002, true]);
  });

  it('T91: a walk whose time is over continues where it stopped', async () => {
    ofOthers(2_000);
    for (let n = 0; n < 500; n += 1) own(`own-${n}`, 0);
    const names = new OwnedNames(folder, ID, hastyClock());
    const seen: string[] = [];
    let walks = 1;
    while (!(await names.walk(30, (name) => seen.push(name.toString()) > 0))) walks += 1;
    assert.ok(walks > 100);
    assert.deepEqual([seen.length, new Set(seen).size, names.isBegun], [500, 500, false]);
  });
});
