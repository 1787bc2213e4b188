import assert from 'node:assert/strict';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { BACKUP_KEY, backupIdOf, partialFileName } from '../../domain/backups/backup.ts';
import { jobIdPart } from '../../domain/path-part.ts';
import { listRemoved } from '../../store/backups/backups.ts';
import { getJob } from '../../store/jobs/jobs.ts';
import { openTestStore, type TestStore } from '../../../test/support/store/job-store.ts';
import { claim } from '../jobs/job-transitions.ts';
import { BACKUP_RUN } from './run-support.ts';

/** A backup job whose daemon on `host` has died, with the files that it left there; they are in the folder here. */
async function died(t: TestContext, host: string): Promise<{ setup: TestStore; jobId: string; partial: string }> {
  const setup = await openTestStore();
  t.after(() => setup.close());
  const daemon = await setup.daemon({ host, bootId: 'boot' }, host);
  const spec = JSON.stringify({ name: 'nightly' });
  const jobId = await setup.job(BACKUP_KEY, { kind: 'backup', runbook: 'backup:nightly', spec });
  await setup.store.write((tx) => claim(tx, { id: daemon, node: host }, 1));
  mkdirSync(setup.paths.backups, { recursive: true });
  const partial = join(setup.paths.backups, partialFileName(jobIdPart(jobId)));
  writeFileSync(partial, 'half');
  return { setup, jobId, partial };
}

async function recover({ setup, jobId }: { setup: TestStore; jobId: string }): Promise<void> {
  const job = await getJob(setup.store.db, jobId);
  const found = await BACKUP_RUN.recover(setup, { ...job, id: jobIdPart(job.id) });
  if (found !== null) await setup.store.write(found);
}

test('A daemon that died on this machine leaves no file and no row', async (t) => {
  const dead = await died(t, hostname());
  await recover(dead);
  assert.equal(existsSync(dead.partial), false);
  assert.deepEqual(await listRemoved(dead.setup.store.db, 10), []);
});

test('Of a daemon that died on another machine a removed backup names the file, for the next one made there', async (t) => {
  const dead = await died(t, 'elsewhere');
  await recover(dead);
  await recover(dead);
  const { db } = dead.setup.store;
  const [row, ...more] = await listRemoved(db, 10);
  assert.deepEqual(more, []);
  assert.equal(row?.id, backupIdOf(dead.jobId));
  assert.equal(row?.host, 'elsewhere');
  // As on that machine, whose folder has the files of the dead daemon.
  const file = join(dead.setup.paths.backups, row?.file ?? '');
  for (const path of [file, dead.partial]) writeFileSync(path, 'left');
  const job = await getJob(db, dead.jobId);
  await BACKUP_RUN.prepare(dead.setup, { ...job, id: jobIdPart(job.id) }, new AbortController().signal);
  assert.deepEqual([existsSync(file), existsSync(dead.partial)], [false, false]);
  assert.deepEqual(await listRemoved(db, 10), []);
});
