import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { workspaceKey } from '../../src/domain/workspace.ts';
import { newId } from '../../src/lib/id.ts';
import { ARTIFACTS_KEPT, consume, findArtifact, findPlanView, getArtifact, insertArtifact } from '../../src/store/artifacts.ts';
import { cancelWaiting, queueApproved } from '../../src/store/claims.ts';
import { insertEvent } from '../../src/store/events.ts';
import type { ApprovalRow, ArtifactRow, EventRow } from '../../src/store/schema.ts';
import { keepState, listStates, listStatesAt, newestState, STATES_KEPT, type NewState } from '../../src/store/states.ts';
import { activeApply, deleteWorkspace, findLock, findOpenJob, findWorkspace, getWorkspace, insertWorkspace, listWorkspaces, lockedBy } from '../../src/store/workspaces.ts';
import { moveWorkspace, recordApply, recordDrift, recordPlan, updateWorkspace } from '../../src/store/workspaces.ts';
import { refusal } from '../support/refusal.ts';
import { workspaceRow } from '../support/workspace-row.ts';
import { claim, ENGINES, enqueue, freshStore } from './kit.ts';


function artifact(some: Partial<ArtifactRow> = {}): Omit<ArtifactRow, 'created_at' | 'consumed_by'> {
  return {
    id: newId('art', Date.now()),
    workspace: 'net',
    job_id: 'job_plan',
    serial: 3,
    lineage: 'l',
    tree_digest: 'd',
    needs_init: 0,
    own_backend: 0,
    secrets: '{}',
    verdict: 'clean',
    verdict_reason: null,
    destroys: 0,
    changes: 1,
    creates: 2,
    summary: '1 to change, 2 to create',
    sealed: Buffer.from([0, 255, 1]),
    digest: 'abc',
    sealed_view: Buffer.from([9, 0, 9]),
    key_id: 'k',
    ...some,
  };
}

function state(some: Partial<NewState> = {}): NewState {
  return { workspace: 'net', serial: 1, lineage: 'l', resources: 2, jobId: null, keyId: 'k', aside: false, seal: (version) => Buffer.from([version & 255, 0]), ...some };
}

function approval(artifactId: string, some: Partial<ApprovalRow> = {}): ApprovalRow {
  return {
    id: newId('apr', Date.now()),
    job_id: newId('job', Date.now()),
    kind: 'apply',
    state: 'pending',
    policy: 'require_approval',
    workspace: 'net',
    runbook: 'apply:net',
    plan_artifact_id: artifactId,
    plan_digest: 'abc',
    plan_serial: 3,
    requested_by: 'ana',
    owners: '["ana"]',
    origin: 'manual',
    alert: null,
    rule: null,
    matched_at: null,
    schedule: null,
    created_at: 1,
    expires_at: 2,
    decided_at: null,
    decided_by: null,
    decided_via: null,
    reason: null,
    one_tap: 0,
    ...some,
  };
}

for (const engine of ENGINES) {
  describe(`Workspaces on ${engine.name}`, () => {
    const its = freshStore(engine);

    const job = (kind: 'plan' | 'apply' | 'destroy' | 'drift', some: Parameters<typeof enqueue>[1] = {}): Promise<string> =>
      enqueue(its.store, { kind, runbook: `${kind}:net`, workspace: 'net', concurrencyKey: workspaceKey('net'), ...some });

    test('A workspace is read as it was inserted, with the same types on both databases', async () => {
      const row = await its.store.write((tx) => insertWorkspace(tx, workspaceRow('net', { source: 'infra', path: 'roots/net', deny_when: 'false', protect_destroy: 1 })));
      assert.deepEqual({ ...(await getWorkspace(its.store.db, 'net')) }, { ...row });
      assert.deepEqual([row.require_saved_plan, row.protect_destroy, row.serial, row.drift], [0, 1, null, 'unknown']);
    });

    test('A name is given once, also when two ask for it at once', async () => {
      const both = await Promise.allSettled([1, 2].map((each) => its.store.write((tx) => insertWorkspace(tx, workspaceRow('net', { path: `/srv/${each}` })))));
      assert.deepEqual(both.map(({ status }) => status), ['fulfilled', 'rejected']);
      await assert.rejects(its.store.write((tx) => insertWorkspace(tx, workspaceRow('net'))), refusal('duplicate'));
      assert.equal((await getWorkspace(its.store.db, 'net')).path, '/srv/1');
    });

    test('What there is not is not_found for who gets, changes or deletes it, and undefined for who looks', async () => {
      assert.equal(await findWorkspace(its.store.db, 'net'), undefined);
      await assert.rejects(getWorkspace(its.store.db, 'net'), refusal('not_found'));
      await assert.rejects(its.store.write((tx) => updateWorkspace(tx, 'net', { path: '/x' })), refusal('not_found'));
      await assert.rejects(its.store.write((tx) => updateWorkspace(tx, 'net', {})), refusal('not_found'));
      await assert.rejects(its.store.write((tx) => deleteWorkspace(tx, 'net')), refusal('not_found'));
    });

    test('They are listed by name', async () => {
      for (const name of ['web', 'a-b', 'a.b', '0']) await its.store.write((tx) => insertWorkspace(tx, workspaceRow(name)));
      assert.deepEqual((await listWorkspaces(its.store.db)).map(({ name }) => name), ['0', 'a-b', 'a.b', 'web']);
    });

    test('An update changes what is given and nothing else', async () => {
      const before = await its.store.write((tx) => insertWorkspace(tx, workspaceRow('net', { approve_when: 'true', deny_when: 'false' })));
      await its.store.write((tx) => updateWorkspace(tx, 'net', { approve_when: null, require_saved_plan: 1 }));
      assert.deepEqual({ ...(await getWorkspace(its.store.db, 'net')) }, { ...before, approve_when: null, require_saved_plan: 1 });
    });

    test('A deleted workspace takes its states and saved plans with it, and nobody else', async () => {
      for (const name of ['net', 'web']) {
        await its.store.write((tx) => insertWorkspace(tx, workspaceRow(name)));
        await its.store.write((tx) => keepState(tx, state({ workspace: name })));
        await its.store.write((tx) => insertArtifact(tx, artifact({ workspace: name })));
      }
      await its.store.write((tx) => deleteWorkspace(tx, 'net'));
      const left = async (table: 'states' | 'artifacts') => (await its.store.db.selectFrom(table).select('workspace').execute()).map((row) => row.workspace);
      assert.deepEqual([await left('states'), await left('artifacts')], [['web'], ['web']]);
    });

    test('The running job of a workspace locks it; a queued one and the job of another do not', async () => {
      const running = await job('plan');
      await claim(its.store, 1);
      await job('apply');
      await enqueue(its.store, { kind: 'plan', workspace: 'web', concurrencyKey: workspaceKey('web') });
      assert.deepEqual([...(await lockedBy(its.store.db))], [['net', running]]);
      assert.equal(await findLock(its.store.db, 'net'), running);
      assert.equal(await findLock(its.store.db, 'web'), null);
    });

    test('The active apply is the one that runs, else the oldest queued apply or destroy; plans and waiting ones are none', async () => {
      await job('plan');
      await job('apply', { state: 'awaiting_approval' });
      assert.equal(await activeApply(its.store.db, 'net'), undefined);
      const first = await job('destroy');
      await job('apply');
      assert.deepEqual({ ...(await activeApply(its.store.db, 'net')) }, { id: first, kind: 'destroy', state: 'queued', requested_by: 'ana' });
      assert.equal(await activeApply(its.store.db, 'ne'), undefined);
    });

    test('The active apply is the running one, also when an older one entered the queue later', async () => {
      const older = await job('apply', { state: 'awaiting_approval' });
      const younger = await job('apply');
      await claim(its.store, 1);
      await its.store.write((tx) => queueApproved(tx, older));
      assert.equal((await activeApply(its.store.db, 'net'))?.id, younger);
    });

    test('A job of any kind and of any state but an ended one is open', async () => {
      assert.equal(await findOpenJob(its.store.db, 'net'), undefined);
      const waiting = await job('apply', { state: 'awaiting_approval' });
      assert.equal((await findOpenJob(its.store.db, 'net'))?.id, waiting);
      await its.store.write((tx) => cancelWaiting(tx, waiting, 'awaiting_approval'));
      assert.equal(await findOpenJob(its.store.db, 'net'), undefined);
      await job('drift');
      assert.equal((await findOpenJob(its.store.db, 'net'))?.kind, 'drift');
    });

    test('A move is noted with its mover; the same state again moves nothing; another lineage at the same serial does', async () => {
      await its.store.write((tx) => insertWorkspace(tx, workspaceRow()));
      const move = (serial: number, lineage: string, byJob: string | null) =>
        its.store.write((tx) => moveWorkspace(tx, 'net', { serial, lineage, byJob, via: byJob === null ? null : 'api' }));
      assert.equal(await move(1, 'l', 'job_a'), true);
      assert.equal(await move(1, 'l', null), false);
      assert.equal((await getWorkspace(its.store.db, 'net')).moved_by_job, 'job_a');
      assert.equal(await move(1, 'other', null), true);
      const { serial, lineage, moved_by_job: by, moved_via: via, moved_at: at } = await getWorkspace(its.store.db, 'net');
      assert.deepEqual([serial, lineage, by, via, at !== null], [1, 'other', null, null, true]);
    });

    test('What runs find out is recorded', async () => {
      await its.store.write((tx) => insertWorkspace(tx, workspaceRow()));
      await its.store.write(async (tx) => {
        await recordPlan(tx, 'net', 'job_p');
        await recordApply(tx, 'net', 'job_a');
        await recordDrift(tx, 'net', 'drifted');
      });
      const row = await getWorkspace(its.store.db, 'net');
      assert.deepEqual([row.last_plan_job_id, row.last_apply_job_id, row.drift, row.drift_checked_at !== null], ['job_p', 'job_a', 'drifted', true]);
    });

    test('A saved plan is read as it was inserted, bytes included, and its facts without them', async () => {
      const made = artifact({ verdict: null });
      await its.store.write((tx) => insertArtifact(tx, made));
      const { sealed, sealed_view: view, ...facts } = made;
      const read = await findArtifact(its.store.db, made.id);
      assert.deepEqual({ ...read }, { ...facts, consumed_by: null, created_at: read!.created_at });
      assert.deepEqual(Buffer.from((await getArtifact(its.store.db, made.id)).sealed), sealed);
      assert.deepEqual(Buffer.from((await findPlanView(its.store.db, made.id))!.sealed_view), view);
      await assert.rejects(getArtifact(its.store.db, 'art_none'), refusal('not_found'));
    });

    test('A saved plan is used once, whoever asks at the same time', async () => {
      const { id } = artifact();
      await its.store.write((tx) => insertArtifact(tx, artifact({ id })));
      const all = await Promise.all(Array.from({ length: 20 }, (_each, i) => its.store.write((tx) => consume(tx, id, `job_${i}`))));
      assert.equal(all.filter(Boolean).length, 1);
      assert.equal((await findArtifact(its.store.db, id))?.consumed_by, `job_${all.indexOf(true)}`);
      assert.equal(await its.store.write((tx) => consume(tx, 'art_none', 'job_x')), false);
    });

    test('Of saved plans the newest stay, and older ones that somebody is asked about or a job still carries out', async () => {
      const ids = Array.from({ length: ARTIFACTS_KEPT + 5 }, () => newId('art', Date.now()));
      for (const id of ids.slice(0, 3)) await its.store.write((tx) => insertArtifact(tx, artifact({ id })));
      await its.store.write(async ({ db }) => {
        await db.insertInto('approvals').values(approval(ids[0]!)).execute();
        await db.insertInto('approvals').values(approval(ids[2]!, { state: 'rejected' })).execute();
      });
      await job('apply', { planArtifactId: ids[1]! });
      for (const id of ids.slice(3)) await its.store.write((tx) => insertArtifact(tx, artifact({ id })));
      await its.store.write((tx) => insertArtifact(tx, artifact({ workspace: 'web' })));
      const left = await its.store.db.selectFrom('artifacts').select('id').where('workspace', '=', 'net').orderBy('id').execute();
      assert.deepEqual(left.map(({ id }) => id), [ids[0], ids[1], ...ids.slice(5)]);
    });

    test('States count their versions up, one for each job, and the newest is the one to start from', async () => {
      assert.equal(await newestState(its.store.db, 'net'), undefined);
      const keep = (some: Partial<NewState>) => its.store.write((tx) => keepState(tx, state(some)));
      assert.equal(await keep({ serial: 1, jobId: 'job_a' }), 1);
      assert.equal(await keep({ serial: 2, jobId: 'job_a', resources: 7 }), 1);
      assert.equal(await keep({ serial: 3, jobId: 'job_b' }), 2);
      assert.equal(await keep({ serial: 4, jobId: null }), 3);
      assert.equal(await keep({ serial: 5, jobId: null }), 4);
      assert.equal(await keep({ workspace: 'web', serial: 1 }), 1);
      const listed = await listStates(its.store.db, 'net');
      assert.deepEqual(listed.map(({ version, serial, job_id: by }) => [version, serial, by]), [[4, 5, null], [3, 4, null], [2, 3, 'job_b'], [1, 2, 'job_a']]);
      assert.equal(listed.at(-1)?.resources, 7);
      assert.deepEqual(Buffer.from((await newestState(its.store.db, 'net'))!.sealed), Buffer.from([4, 0]));
    });

    test('Of states the newest stay', async () => {
      for (let serial = 1; serial <= STATES_KEPT + 3; serial += 1) await its.store.write((tx) => keepState(tx, state({ serial })));
      const versions = (await its.store.db.selectFrom('states').select('version').orderBy('version').execute()).map(({ version }) => version);
      assert.deepEqual([versions[0], versions.length], [4, STATES_KEPT]);
    });

    test('A state that is set aside is no state to start from: it is counted downwards, and stays beside the newest', async () => {
      const keep = (some: Partial<NewState>) => its.store.write((tx) => keepState(tx, state(some)));
      assert.equal(await keep({ serial: 99, jobId: 'job_a', aside: true }), -1);
      assert.equal(await newestState(its.store.db, 'net'), undefined);
      assert.equal(await keep({ serial: 1, jobId: 'job_a' }), 1);
      assert.equal(await keep({ serial: 100, jobId: 'job_a', aside: true }), -1);
      assert.equal(await keep({ serial: 101, jobId: 'job_b', aside: true }), -2);
      for (let serial = 2; serial <= STATES_KEPT; serial += 1) await keep({ serial });
      assert.equal((await newestState(its.store.db, 'net'))?.version, STATES_KEPT);
      assert.deepEqual((await listStates(its.store.db, 'net')).slice(-3).map(({ version, serial }) => [version, serial]), [[1, 1], [-1, 100], [-2, 101]]);
      assert.equal((await listStatesAt(its.store.db, 'net', { serial: 101, lineage: 'l' })).length, 1);
      assert.deepEqual(await listStatesAt(its.store.db, 'net', { serial: 99, lineage: 'l' }), []);
    });

    test('An event is read as it was inserted', async () => {
      const row: EventRow = {
        id: newId('evt', 1),
        source: 'drift',
        name: 'net',
        status: 'firing',
        netgroup: null,
        severity: null,
        fingerprint: 'drift:net',
        labels: '{"workspace":"net"}',
        outcome: 'ignored',
        reason: 'No rule matched.',
        rule: null,
        job_id: null,
        approval_id: null,
        received_at: 1_700_000_000_000,
        annotations: '{}',
        check_observations: null,
        trace: '[]',
        depth: 0,
      };
      await its.store.write(async (tx) => insertEvent(tx, row));
      assert.deepEqual({ ...(await its.store.db.selectFrom('events').selectAll().executeTakeFirst()) }, row);
    });
  });
}
