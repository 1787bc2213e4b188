import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { parseState } from '../../domain/workspaces/state.ts';
import { workspaceRow } from '../../../test/support/fixtures/workspace-row.ts';
import { claimJobs, type Fence, fenceOf } from '../../store/jobs/claims.ts';
import { getJob } from '../../store/jobs/jobs.ts';
import type { JobRow } from '../../store/schema/schema.ts';
import { listStates } from '../../store/workspaces/states.ts';
import { getWorkspace, insertWorkspace, moveWorkspace } from '../../store/workspaces/workspaces.ts';
import { checkedJob } from '../jobs/checked-job.ts';
import { findState, keepBrought, keepFound, keepOfRun } from './states.ts';
import { openTestStore, type TestStore } from '../../../test/support/store/job-store.ts';

const text = (serial: number, lineage = 'l'): string =>
  JSON.stringify({ version: 4, serial, lineage, resources: [{ instances: [{}, {}] }] });

interface Scene extends TestStore {
  readonly job: TestStore['job'];
  readonly row: JobRow;
  /** Writes into the folder that the run worked in. */
  write(name: string, content: string): void;
  salvage(): Promise<boolean>;
}

async function scene(t: TestContext): Promise<Scene> {
  const setup = await openTestStore();
  t.after(() => setup.close());
  const id = await setup.job(null, { kind: 'apply', workspace: 'net' });
  await setup.store.write((tx) => insertWorkspace(tx, workspaceRow('net', { path: '/x' })));
  const row = await getJob(setup.store.db, id);
  const folder = join(setup.runsDir, id, 'tree');
  mkdirSync(folder, { recursive: true });
  return {
    ...setup,
    row,
    write(name, content) {
      mkdirSync(join(folder, name, '..'), { recursive: true });
      writeFileSync(join(folder, name), content);
    },
    async salvage() {
      const found = await findState(setup, checkedJob(row));
      if (found !== null) await setup.store.write((tx) => keepFound(tx, row, found));
      return found !== null;
    },
  };
}

const kept = async ({ store }: Scene): Promise<[version: number, serial: number][]> =>
  (await listStates(store.db, 'net')).map(({ version, serial }) => [version, serial]);

test('What a run left becomes the newest state, once, and the workspace is where it says', async (t) => {
  const on = await scene(t);
  assert.equal(await on.salvage(), false);
  on.write('terraform.tfstate', text(3));
  await on.salvage();
  await on.salvage();
  assert.deepEqual(await kept(on), [[1, 3]]);
  const { serial, moved_by_job: by } = await getWorkspace(on.store.db, 'net');
  assert.deepEqual([serial, by], [3, on.row.id]);
});

test('A state that could not be written to its backend is newer than the one in the backend', async (t) => {
  const on = await scene(t);
  on.write('terraform.tfstate', text(3));
  on.write('errored.tfstate', text(4));
  await on.salvage();
  assert.deepEqual(await kept(on), [[1, 4]]);
});

test('A state that another one has gone past, and one that belongs into a backend, is set aside', async (t) => {
  const on = await scene(t);
  on.write('terraform.tfstate', text(5));
  await on.salvage();
  on.write('terraform.tfstate', text(4, 'of somebody else'));
  await on.salvage();
  assert.deepEqual(await kept(on), [
    [1, 5],
    [-1, 4],
  ]);
  assert.equal((await getWorkspace(on.store.db, 'net')).serial, 5);

  const own = await scene(t);
  own.write('.terraform/terraform.tfstate', JSON.stringify({ backend: { type: 'http' } }));
  own.write('terraform.tfstate', text(1));
  assert.equal(await own.salvage(), false);
  own.write('errored.tfstate', text(2));
  await own.salvage();
  assert.deepEqual(await kept(own), [[-1, 2]]);
  assert.equal((await getWorkspace(own.store.db, 'net')).serial, null);
});

test('Two states of one serial are two things that were made: the second is set aside', async (t) => {
  const on = await scene(t);
  on.write('terraform.tfstate', text(3));
  await on.salvage();
  on.write('terraform.tfstate', `${text(3)} `);
  await on.salvage();
  assert.deepEqual(await kept(on), [
    [1, 3],
    [-1, 3],
  ]);
});

test('A position that is noted without a version is taken over only by a state that continues it', async (t) => {
  const noted = { serial: 3, lineage: 'l', byJob: null, via: null };
  const salvaged = async (serial: number, lineage: string, byJob: string | null = null): Promise<number> => {
    const on = await scene(t);
    await on.store.write((tx) => moveWorkspace(tx, 'net', { ...noted, byJob }));
    on.write('terraform.tfstate', text(serial, lineage));
    await on.salvage();
    const [[version] = []] = await kept(on);
    return version ?? 0;
  };
  assert.deepEqual([await salvaged(3, 'l'), await salvaged(3, 'l', 'job_x'), await salvaged(4, 'l')], [1, 1, 1]);
  assert.deepEqual([await salvaged(2, 'l'), await salvaged(3, 'x'), await salvaged(4, 'l', 'job_x')], [-1, -1, -1]);
});

test('The state that the files of a run brought is stored once, and not by a run that has lost its job', async (t) => {
  const on = await scene(t);
  const ring = await on.keyring();
  const state = parseState(Buffer.from(text(3)));
  assert.ok(state !== null);
  const bring = (fence: Fence): Promise<{ owned: boolean }> =>
    on.store.write((tx) => keepBrought(tx, fence, on.row, { state, ring }));
  assert.deepEqual(await bring(fenceOf(on.row)), { owned: false });
  assert.deepEqual(await kept(on), []);
  const daemonId = await on.daemon();
  const [claimed] = await on.store.write((tx) => claimJobs(tx, daemonId, 1));
  assert.ok(claimed !== undefined && claimed.id === on.row.id);
  const fence = fenceOf(claimed);
  // As where the first write was committed and its answer was lost.
  for (let attempt = 0; attempt < 2; attempt += 1) assert.deepEqual(await bring(fence), { owned: true });
  assert.deepEqual(await kept(on), [[1, 3]]);
  const { serial, moved_by_job: by } = await getWorkspace(on.store.db, 'net');
  assert.deepEqual([serial, by], [3, null]);
  // What the run makes from it is another version.
  await on.store.write((tx) => keepOfRun(tx, fence, on.row, { state: { ...state, serial: 4 }, ring }));
  assert.deepEqual(await kept(on), [
    [2, 4],
    [1, 3],
  ]);
});
