import assert from 'node:assert/strict';
import { rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { createSealKeeper } from '../../config/seal-keeper.ts';
import { newId } from '../../lib/id.ts';
import { insertBackup, noteVerified } from '../../store/backups/backups.ts';
import { finishJob } from '../../store/jobs/claims.ts';
import { insertJob } from '../../store/jobs/jobs.ts';
import { noteExported, noteUsed } from '../../store/secrets/seal.ts';
import { install, type Installation } from '../../../test/support/doctor-facts.ts';
import { tamper } from '../../../test/support/store/rewrite.ts';
import { claimOne, makeJob } from '../../../test/store/engine-fixture.ts';
import { examineBackups } from './backups.ts';

const nameOf = (id: string): string => `store-20260101T000000Z-${id}.backup`;

describe('The entry backups of the doctor', () => {
  let home: Installation;
  beforeEach(async () => {
    home = await install();
  });
  afterEach(() => home.remove());

  const fileOf = (id: string): string => join(home.paths.backups, nameOf(id));

  async function add(host = hostname()): Promise<string> {
    const id = newId('bak', Date.now());
    const row = { id, job_id: `job_${id.slice(4)}`, name: 'store', file: nameOf(id), host, sha256: 'ab' };
    await home.store.write((tx) =>
      insertBackup(tx, { ...row, created_at: home.clock.now() - 3_600_000, size_bytes: 3, verified_at: 1 }),
    );
    if (host === hostname()) await writeFile(fileOf(id), 'abc');
    return id;
  }

  async function exportKey(): Promise<void> {
    const ring = await createSealKeeper(home.paths.sealKey, () => false).keyring();
    await home.store.write((tx) => noteExported(tx, ring));
  }

  async function demand(status: string, detail: RegExp): Promise<void> {
    const found = await examineBackups({ ...home.parts(), began: { wallMs: 0, monotonicMs: 0 } });
    assert.match(found.detail, detail);
    assert.equal(found.status, status);
  }

  test('is ok without a backup, and names the command that makes one', () =>
    demand('ok', /^No backup was made yet: svc backup create --wait\.$/));

  test('T80: warns of a row that was changed in the database, also of one that seems removed', async () => {
    const id = await add();
    await add();
    await exportKey();
    await tamper(home.store, 'backups', id, { removed_at: 1 });
    await demand('warn', /The row of bak_\w+ was changed in the database: its file is neither verified nor removed\./);
    await tamper(home.store, 'backups', id, { removed_at: null });
    await demand('ok', /its key was exported/);
  });

  test('warns where backups exist and the key was never exported, and where it was rotated since', async () => {
    await add();
    await demand('warn', /The seal key was never exported, and no backup holds it: svc seal export FILE/);
    await exportKey();
    await demand('ok', /^The newest backup is 1h old, and its key was exported\.$/);
    const rotated = await createSealKeeper(home.paths.sealKey, () => false).rotate();
    await home.store.write((tx) => noteUsed(tx, rotated));
    await demand('warn', /was rotated after its last export/);
  });

  test('warns of a backup that could not be verified, or whose file is gone or has another size', async () => {
    await exportKey();
    const id = await add();
    await writeFile(fileOf(id), 'longer');
    await demand('warn', new RegExp(`The file of ${id} has another size: svc backup verify ${id}`));
    await rm(fileOf(id));
    await demand('warn', new RegExp(`The file of ${id} is not in the directory of backups`));
    await home.store.write((tx) => noteVerified(tx, id, null));
    await demand('warn', new RegExp(`Backup ${id} could not be verified: make another`));
    await add('another machine');
    await demand('ok', /its key was exported/);
  });

  test('warns when the last backup failed, also where there never was a good one', async () => {
    await exportKey();
    const job = makeJob({ kind: 'backup', concurrencyKey: 'backup' });
    await home.store.write((tx) => insertJob(tx, job));
    await demand('ok', /No backup was made yet/);
    const fence = await claimOne(home.store);
    await home.store.write((tx) => finishJob(tx, fence, { state: 'failed', exitCode: null }));
    await demand('warn', new RegExp(`The last backup is failed: svc job events ${job.id}`));
    await add();
    await demand('ok', /The newest backup is 1h old/);
  });
});
