/** The saved plans and the states of workspaces, on each database. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { newId } from '../../../src/lib/id.ts';
import { toJson } from '../../../src/lib/json.ts';
import {
  ARTIFACTS_KEPT,
  consume,
  findArtifact,
  findPlanView,
  getArtifact,
  insertArtifact,
} from '../../../src/store/workspaces/artifacts.ts';
import type { ApprovalRow } from '../../../src/store/schema/schema.ts';
import {
  keepState,
  listStates,
  listStatesAt,
  newestState,
  STATES_KEPT,
  type NewState,
} from '../../../src/store/workspaces/states.ts';
import { refusal } from '../../support/refusal.ts';
import { isTagged } from '../../../src/store/engine/tags/tags.ts';
import { TEST_RING } from '../../support/seal.ts';
import { ENGINES, enqueueRun, freshStore } from '../engine-fixture.ts';
import { artifact, state } from '../../support/fixtures/workspace-files.ts';

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
    owners: toJson(['ana']),
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
    summary: null,
    because: null,
    order_tag: null,
    order_key_id: null,
    ...some,
  };
}

for (const engine of ENGINES) {
  describe(`Saved plans and states on ${engine.name}`, () => {
    const its = freshStore(engine);

    test('A saved plan is read as it was inserted, bytes included, and its facts without them', async () => {
      const made = artifact({ verdict: null });
      await its.store.write((tx) => insertArtifact(tx, made));
      const { sealed, sealed_view: view, ...facts } = made;
      const read = await findArtifact(its.store.db, made.id);
      assert.deepEqual(
        { ...read },
        {
          ...facts,
          consumed_by: null,
          created_at: read!.created_at,
          order_tag: read!.order_tag,
          order_key_id: read!.order_key_id,
        },
      );
      assert.ok(isTagged(TEST_RING, 'artifacts', read!));
      assert.deepEqual(Buffer.from((await getArtifact(its.store.db, made.id)).sealed), sealed);
      assert.deepEqual(Buffer.from((await findPlanView(its.store.db, made.id))!.sealed_view), view);
      await assert.rejects(getArtifact(its.store.db, 'art_none'), refusal('not_found'));
    });

    test('A saved plan is used once, also by concurrent requests', async () => {
      const { id } = artifact();
      await its.store.write((tx) => insertArtifact(tx, artifact({ id })));
      const all = await Promise.all(
        Array.from({ length: 20 }, (_each, i) => its.store.write((tx) => consume(tx, id, `job_${i}`))),
      );
      assert.equal(all.filter(Boolean).length, 1);
      assert.equal((await findArtifact(its.store.db, id))?.consumed_by, `job_${all.indexOf(true)}`);
      assert.equal(await its.store.write((tx) => consume(tx, 'art_none', 'job_x')), false);
    });

    test('The newest saved plans stay, and older ones that an approval or an open job needs', async () => {
      const ids = Array.from({ length: ARTIFACTS_KEPT + 5 }, () => newId('art', Date.now()));
      for (const id of ids.slice(0, 3)) await its.store.write((tx) => insertArtifact(tx, artifact({ id })));
      await its.store.write(async ({ db }) => {
        await db.insertInto('approvals').values(approval(ids[0]!)).execute();
        await db
          .insertInto('approvals')
          .values(approval(ids[2]!, { state: 'rejected' }))
          .execute();
      });
      await enqueueRun(its.store, 'apply', { planArtifactId: ids[1]! });
      for (const id of ids.slice(3)) await its.store.write((tx) => insertArtifact(tx, artifact({ id })));
      await its.store.write((tx) => insertArtifact(tx, artifact({ workspace: 'web' })));
      const left = await its.store.db
        .selectFrom('artifacts')
        .select('id')
        .where('workspace', '=', 'net')
        .orderBy('id')
        .execute();
      assert.deepEqual(
        left.map(({ id }) => id),
        [ids[0], ids[1], ...ids.slice(5)],
      );
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
      assert.deepEqual(
        listed.map(({ version, serial, job_id: by }) => [version, serial, by]),
        [
          [4, 5, null],
          [3, 4, null],
          [2, 3, 'job_b'],
          [1, 2, 'job_a'],
        ],
      );
      assert.equal(listed.at(-1)?.resources, 7);
      assert.deepEqual(Buffer.from((await newestState(its.store.db, 'net'))!.sealed), Buffer.from([4, 0]));
    });

    test('The newest states stay', async () => {
      for (let serial = 1; serial <= STATES_KEPT + 3; serial += 1)
        await its.store.write((tx) => keepState(tx, state({ serial })));
      const versions = (await its.store.db.selectFrom('states').select('version').orderBy('version').execute()).map(
        ({ version }) => version,
      );
      assert.deepEqual([versions[0], versions.length], [4, STATES_KEPT]);
    });

    test('No run starts from a state that was set aside: its version is negative, and it stays', async () => {
      const keep = (some: Partial<NewState>) => its.store.write((tx) => keepState(tx, state(some)));
      assert.equal(await keep({ serial: 99, jobId: 'job_a', aside: true }), -1);
      assert.equal(await newestState(its.store.db, 'net'), undefined);
      assert.equal(await keep({ serial: 1, jobId: 'job_a' }), 1);
      assert.equal(await keep({ serial: 100, jobId: 'job_a', aside: true }), -1);
      assert.equal(await keep({ serial: 101, jobId: 'job_b', aside: true }), -2);
      for (let serial = 2; serial <= STATES_KEPT; serial += 1) await keep({ serial });
      assert.equal((await newestState(its.store.db, 'net'))?.version, STATES_KEPT);
      assert.deepEqual(
        (await listStates(its.store.db, 'net')).slice(-3).map(({ version, serial }) => [version, serial]),
        [
          [1, 1],
          [-1, 100],
          [-2, 101],
        ],
      );
      assert.equal((await listStatesAt(its.store.db, 'net', { serial: 101, lineage: 'l' })).length, 1);
      assert.deepEqual(await listStatesAt(its.store.db, 'net', { serial: 99, lineage: 'l' }), []);
    });
  });
}
