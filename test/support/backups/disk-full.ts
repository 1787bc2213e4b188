/**
 * A stand-alone program, in a separate mount namespace: `node disk-full.ts`. A small disk is full while a backup
 * is written, and another one during a restore. Ends with 0 if all expectations hold, and prints those that do not.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { backUp, listOf, onlyFile, openBackupFixture, outputOf, queueBackup, verb } from './backup-fixture.ts';
import type { Ending } from '../fixtures/installation.ts';

/** More than either disk has room for, and nothing that compresses. */
const OUTPUT_BYTES = 400_000;
const DISK = 'size=64k,mode=0711';

function run(program: string, ...args: readonly string[]): void {
  const done = spawnSync(program, args, { encoding: 'utf8' });
  assert.equal(done.status, 0, done.stderr);
}

async function story(t: Ending): Promise<void> {
  const on = await openBackupFixture(t);
  const { fixture } = on;
  await fixture.start(on.flags);
  await fixture.waitFor(
    await fixture.queue({ command: ['/usr/bin/head', '-c', String(OUTPUT_BYTES), '/dev/urandom'] }),
    ['succeeded'],
  );
  run('mount', '-t', 'tmpfs', '-o', DISK, 'gatehouse', on.folder);
  const full = await queueBackup(on);
  await fixture.waitFor(full, ['failed'], 60_000);
  assert.match(await outputOf(on, full), /No backup was made: the disk is full\./);
  assert.deepEqual(readdirSync(on.folder), []);
  assert.deepEqual(await listOf(on), []);
  run('umount', on.folder);
  await backUp(on);

  const into = join(fixture.dir, 'into');
  mkdirSync(into);
  run('mount', '-t', 'tmpfs', '-o', DISK, 'gatehouse', into);
  const restored = await verb(on, 'backup', 'restore', onlyFile(on), '--into', into, '--yes');
  assert.equal(restored.exitCode, 7);
  assert.match(restored.stdout, /--into: the disk of \S+ is full; nothing was restored\./);
  assert.equal(existsSync(join(into, 'gatehouse.db')), false);
  assert.equal(existsSync(join(into, '.restore')), false);
  run('umount', into);
}

const steps: (() => Promise<void>)[] = [];
try {
  await story({ after: (step) => void steps.push(step) });
} finally {
  for (const step of steps.toReversed()) await step().catch(() => undefined);
}
