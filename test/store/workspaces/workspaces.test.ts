/** Workspaces on each database. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { workspaceKey } from '../../../src/domain/workspaces/workspace.ts';
import { toJson } from '../../../src/lib/json.ts';
import { insertArtifact } from '../../../src/store/workspaces/artifacts.ts';
import { cancelWaiting, queueApproved } from '../../../src/store/jobs/claims.ts';
import { isTagged } from '../../../src/store/engine/tags/tags.ts';
import type { Tx } from '../../../src/store/engine/tx.ts';
import { keepState } from '../../../src/store/workspaces/states.ts';
import {
  activeApply,
  deleteWorkspace,
  findLock,
  findOpenJob,
  findWorkspace,
  getWorkspace,
  insertWorkspace,
  keepWorkspaceDirectory,
  listWorkspaces,
  lockedBy,
} from '../../../src/store/workspaces/workspaces.ts';
import {
  moveWorkspace,
  recordApply,
  recordBackend,
  recordDrift,
  recordPlan,
  recordSecrets,
  updateWorkspace,
} from '../../../src/store/workspaces/workspaces.ts';
import { refusal } from '../../support/refusal.ts';
import { TEST_RING } from '../../support/seal.ts';
import { workspaceRow } from '../../support/fixtures/workspace-row.ts';
import { claim, ENGINES, enqueue, enqueueRun, freshStore } from '../engine-fixture.ts';
import { artifact, state } from '../../support/fixtures/workspace-files.ts';

for (const engine of ENGINES) {
  describe(`Workspaces on ${engine.name}`, () => {
    const its = freshStore(engine);

    test('A workspace is read as it was inserted, with the same types on both databases', async () => {
      const row = await its.store.write((tx) =>
        insertWorkspace(
          tx,
          workspaceRow('net', { source: 'infra', path: 'roots/net', deny_when: 'false', protect_destroy: 1 }),
        ),
      );
      assert.deepEqual({ ...(await getWorkspace(its.store.db, 'net')) }, { ...row });
      assert.deepEqual([row.require_saved_plan, row.protect_destroy, row.serial, row.drift], [0, 1, null, 'unknown']);
    });

    test('A name is unique, also when two processes add it at once', async () => {
      const both = await Promise.allSettled(
        [1, 2].map((each) =>
          its.store.write((tx) => insertWorkspace(tx, workspaceRow('net', { path: `/srv/${each}` }))),
        ),
      );
      assert.deepEqual(
        both.map(({ status }) => status),
        ['fulfilled', 'rejected'],
      );
      await assert.rejects(
        its.store.write((tx) => insertWorkspace(tx, workspaceRow('net'))),
        refusal('duplicate'),
      );
      assert.equal((await getWorkspace(its.store.db, 'net')).path, '/srv/1');
    });

    test('T86: what a directory is is kept where the row did not change, and changes with the place', async () => {
      const write = its.store.write.bind(its.store);
      await write((tx) => insertWorkspace(tx, workspaceRow('net', { dir_kept: '{"a":1}' })));
      const row = await getWorkspace(its.store.db, 'net');
      assert.equal(row.dir_kept, '{"a":1}');
      assert.equal(await write((tx) => keepWorkspaceDirectory(tx, { ...row, dir_kept: null }, '{"b":1}')), false);
      assert.equal(await write((tx) => keepWorkspaceDirectory(tx, { ...row, path: '/x' }, '{"b":1}')), false);
      assert.equal(await write((tx) => keepWorkspaceDirectory(tx, row, '{"b":1}')), true);
      const moved = await write((tx) => updateWorkspace(tx, 'net', { source: 'ops', path: '', dir_kept: null }));
      assert.equal(moved.dir_kept, null);
      assert.equal(await write((tx) => keepWorkspaceDirectory(tx, moved, '{"c":1}')), false, 'a source has it');
    });

    test('An unknown name is not_found to get, change or delete, and undefined to find', async () => {
      assert.equal(await findWorkspace(its.store.db, 'net'), undefined);
      await assert.rejects(getWorkspace(its.store.db, 'net'), refusal('not_found'));
      await assert.rejects(
        its.store.write((tx) => updateWorkspace(tx, 'net', { path: '/x' })),
        refusal('not_found'),
      );
      await assert.rejects(
        its.store.write((tx) => updateWorkspace(tx, 'net', {})),
        refusal('not_found'),
      );
      await assert.rejects(
        its.store.write((tx) => deleteWorkspace(tx, 'net')),
        refusal('not_found'),
      );
    });

    test('They are listed by name', async () => {
      for (const name of ['web', 'a-b', 'a.b', '0'])
        await its.store.write((tx) => insertWorkspace(tx, workspaceRow(name)));
      assert.deepEqual(
        (await listWorkspaces(its.store.db)).map(({ name }) => name),
        ['0', 'a-b', 'a.b', 'web'],
      );
    });

    test('An update changes the given fields and no other', async () => {
      const before = await its.store.write((tx) =>
        insertWorkspace(tx, workspaceRow('net', { approve_when: 'true', deny_when: 'false' })),
      );
      await its.store.write((tx) => updateWorkspace(tx, 'net', { approve_when: null, require_saved_plan: 1 }));
      const after = await getWorkspace(its.store.db, 'net');
      assert.notEqual(after.order_tag, before.order_tag);
      assert.deepEqual(
        { ...after },
        { ...before, approve_when: null, require_saved_plan: 1, order_tag: after.order_tag },
      );
    });

    test('A deleted workspace deletes its states and saved plans, and no others', async () => {
      for (const name of ['net', 'web']) {
        await its.store.write((tx) => insertWorkspace(tx, workspaceRow(name)));
        await its.store.write((tx) => keepState(tx, state({ workspace: name })));
        await its.store.write((tx) => insertArtifact(tx, artifact({ workspace: name })));
      }
      await its.store.write((tx) => deleteWorkspace(tx, 'net'));
      const left = async (table: 'states' | 'artifacts') =>
        (await its.store.db.selectFrom(table).select('workspace').execute()).map((row) => row.workspace);
      assert.deepEqual([await left('states'), await left('artifacts')], [['web'], ['web']]);
    });

    test('The running job of a workspace locks it; a queued one and the job of another do not', async () => {
      const running = await enqueueRun(its.store, 'plan');
      await claim(its.store, 1);
      await enqueueRun(its.store, 'apply');
      await enqueue(its.store, { kind: 'plan', workspace: 'web', concurrencyKey: workspaceKey('web') });
      assert.deepEqual([...(await lockedBy(its.store.db))], [['net', running]]);
      assert.equal(await findLock(its.store.db, 'net'), running);
      assert.equal(await findLock(its.store.db, 'web'), null);
    });

    test('The active apply is the one that runs, else the oldest queued apply or destroy, never a plan', async () => {
      await enqueueRun(its.store, 'plan');
      await enqueueRun(its.store, 'apply', { state: 'awaiting_approval' });
      assert.equal(await activeApply(its.store.db, 'net'), undefined);
      const first = await enqueueRun(its.store, 'destroy');
      await enqueueRun(its.store, 'apply');
      assert.deepEqual(
        { ...(await activeApply(its.store.db, 'net')) },
        { id: first, kind: 'destroy', state: 'queued', requested_by: 'ana' },
      );
      assert.equal(await activeApply(its.store.db, 'ne'), undefined);
    });

    test('The active apply is the running one, also when an older one entered the queue later', async () => {
      const older = await enqueueRun(its.store, 'apply', { state: 'awaiting_approval' });
      const younger = await enqueueRun(its.store, 'apply');
      await claim(its.store, 1);
      await its.store.write((tx) => queueApproved(tx, older));
      assert.equal((await activeApply(its.store.db, 'net'))?.id, younger);
    });

    test('A job of any kind and of any state but an ended one is open', async () => {
      assert.equal(await findOpenJob(its.store.db, 'net'), undefined);
      const waiting = await enqueueRun(its.store, 'apply', { state: 'awaiting_approval' });
      assert.equal((await findOpenJob(its.store.db, 'net'))?.id, waiting);
      await its.store.write((tx) => cancelWaiting(tx, waiting, 'awaiting_approval'));
      assert.equal(await findOpenJob(its.store.db, 'net'), undefined);
      await enqueueRun(its.store, 'drift');
      assert.equal((await findOpenJob(its.store.db, 'net'))?.kind, 'drift');
    });

    test('A move is noted with its mover; the same state moves nothing, another lineage does', async () => {
      await its.store.write((tx) => insertWorkspace(tx, workspaceRow()));
      const move = (serial: number, lineage: string, byJob: string | null) =>
        its.store.write((tx) =>
          moveWorkspace(tx, 'net', { serial, lineage, byJob, via: byJob === null ? null : 'api' }),
        );
      assert.equal(await move(1, 'l', 'job_a'), true);
      assert.equal(await move(1, 'l', null), false);
      assert.equal((await getWorkspace(its.store.db, 'net')).moved_by_job, 'job_a');
      assert.equal(await move(1, 'other', null), true);
      const {
        serial,
        lineage,
        moved_by_job: by,
        moved_via: via,
        moved_at: at,
      } = await getWorkspace(its.store.db, 'net');
      assert.deepEqual([serial, lineage, by, via, at !== null], [1, 'other', null, null, true]);
    });

    test('T80: what later runs go by has a tag after each write of it, and none that vouches for a change', async () => {
      const isOurs = async () => isTagged(TEST_RING, 'workspaces', await getWorkspace(its.store.db, 'net'));
      const writes: readonly ((tx: Tx) => Promise<unknown>)[] = [
        (tx: Tx) => insertWorkspace(tx, workspaceRow('net')),
        (tx: Tx) => moveWorkspace(tx, 'net', { serial: 1, lineage: 'l', byJob: 'job_a', via: 'api' }),
        (tx: Tx) => recordBackend(tx, 'net', true),
        (tx: Tx) => recordSecrets(tx, 'net', ['net/b', 'net/a']),
      ];
      for (const write of writes) {
        await its.store.write(write);
        assert.ok(await isOurs());
      }
      const { serial, lineage, own_backend: own, secret_refs: refs } = await getWorkspace(its.store.db, 'net');
      assert.deepEqual([serial, lineage, own, refs], [1, 'l', 1, '["net/a","net/b"]']);
      await its.store.write(({ db }) =>
        db
          .updateTable('workspaces')
          .set({ secret_refs: toJson([]) })
          .execute(),
      );
      await its.store.write((tx) => recordBackend(tx, 'net', false));
      assert.equal(await isOurs(), false);
    });

    test('What runs find out is recorded', async () => {
      await its.store.write((tx) => insertWorkspace(tx, workspaceRow()));
      await its.store.write(async (tx) => {
        await recordPlan(tx, 'net', 'job_p');
        await recordApply(tx, 'net', 'job_a');
        await recordDrift(tx, 'net', 'drifted');
      });
      const row = await getWorkspace(its.store.db, 'net');
      assert.deepEqual(
        [row.last_plan_job_id, row.last_apply_job_id, row.drift, row.drift_checked_at !== null],
        ['job_p', 'job_a', 'drifted', true],
      );
    });
  });
}
