/** What is sealed and with which key, and its rotation, on both databases. */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { describe, test } from 'node:test';
import { pause, systemClock } from '../../../src/lib/clock.ts';
import { newId } from '../../../src/lib/id.ts';
import { randomBytes } from '../../../src/lib/random.ts';
import { createKeyring, type Keyring } from '../../../src/lib/seal.ts';
import { toJson } from '../../../src/lib/json.ts';
import type { Asker } from '../../../src/jobs/queue.ts';
import { queueWorkspaceRun } from '../../../src/jobs/workspaces/queue.ts';
import { resealAll } from '../../../src/store/secrets/reseal.ts';
import type { ArtifactRow } from '../../../src/store/schema/schema.ts';
import {
  assertSameKey,
  countSealed,
  holdsSealed,
  noteUsed,
  planLabel,
  planViewLabel,
  stateLabel,
  takeOver,
} from '../../../src/store/secrets/seal.ts';
import type { Store } from '../../../src/store/store.ts';
import { insertWorkspace } from '../../../src/store/workspaces/workspaces.ts';
import { refusal } from '../../support/refusal.ts';
import { workspaceRow } from '../../support/fixtures/workspace-row.ts';
import { ENGINES } from '../engine-fixture.ts';
import { newKey, sealedStore, set, valueOf } from '../../support/fixtures/sealed-store.ts';
import { rewrite } from '../../support/store/rewrite.ts';

const BY = { principal: 'ana', owner: 'ana', via: 'cli' };

async function addState(store: Store, ring: Keyring, version: number, content: string): Promise<void> {
  const facts = { workspace: 'net', version, serial: version, lineage: 'l' };
  const sealed = ring.seal(stateLabel(facts), Buffer.from(content));
  await store.write(({ db, now }) =>
    db
      .insertInto('states')
      .values({ ...facts, resources: 1, job_id: null, sealed, key_id: ring.activeId, created_at: now })
      .execute(),
  );
}

/** A saved plan that an approval was asked for. */
async function addPlan(store: Store, ring: Keyring, content: string): Promise<ArtifactRow> {
  const about = { lineage: 'l', tree_digest: 'd', verdict: 'clean', secrets: toJson({}) } as const;
  const names = {
    id: newId('art', Date.now()),
    workspace: 'net',
    serial: 4,
    job_id: newId('job', Date.now()),
    ...about,
  };
  const sealed = ring.seal(planLabel(names), Buffer.from(content));
  const row: ArtifactRow = {
    ...names,
    needs_init: 0,
    own_backend: 0,
    verdict_reason: null,
    destroys: 0,
    changes: 0,
    creates: 1,
    summary: '1 to create',
    sealed,
    digest: hash('sha256', sealed),
    sealed_view: ring.seal(planViewLabel(names), Buffer.from(`view of ${content}`)),
    key_id: ring.activeId,
    created_at: 0,
    consumed_by: null,
    order_tag: null,
    order_key_id: null,
  };
  const approval = {
    id: newId('apr', Date.now()),
    job_id: row.job_id,
    kind: 'apply',
    state: 'pending',
    policy: 'require_approval',
    workspace: 'net',
    runbook: 'apply:net',
    plan_artifact_id: row.id,
    plan_digest: row.digest,
    plan_serial: 4,
    requested_by: 'ana',
    owners: toJson(['ana']),
    origin: 'manual',
    alert: null,
    rule: null,
    matched_at: null,
    created_at: 0,
    expires_at: 1,
    decided_at: null,
    decided_by: null,
    decided_via: null,
    reason: null,
    one_tap: 0,
  } as const;
  await store.write(async ({ db }) => {
    await db.insertInto('artifacts').values(row).execute();
    await db.insertInto('approvals').values(approval).execute();
  });
  return row;
}

for (const engine of ENGINES) {
  describe(`Sealed values on ${engine.name}`, () => {
    const its = sealedStore(engine);

    test('values are counted by their key: active, old or unknown', async () => {
      assert.equal(await holdsSealed(its.store.db), false);
      await set(its.store, its.ring, 'x');
      await addState(its.store, its.ring, 1, 's');
      await addPlan(its.store, createKeyring([newKey()]), 'p');
      await set(its.store, its.rotated, 'y', { project: 'app', name: 'key' });
      assert.equal(await holdsSealed(its.store.db), true);
      const { total, foreign, old, used } = await countSealed(its.store.db, its.rotated);
      assert.deepEqual({ total, foreign, old, used }, { total: 4, foreign: 1, old: 2, used: null });
      assert.equal((await countSealed(its.store.db, null)).foreign, 4);
    });

    test('the first process records its key; one without it is refused, one that has rotated is not', async () => {
      await assertSameKey(its.store, its.ring);
      await assertSameKey(its.store, its.ring);
      await assert.rejects(
        assertSameKey(its.store, createKeyring([its.second])),
        refusal('invalid_argument', /^--seal-key-file: this store is sealed with another key/),
      );
      await assertSameKey(its.store, its.rotated);
      await its.store.write((tx) => noteUsed(tx, its.rotated));
      assert.equal((await countSealed(its.store.db, its.rotated)).used?.key_id, its.rotated.activeId);
      await assert.rejects(
        assertSameKey(its.store, its.ring),
        refusal('invalid_argument', new RegExp(`another key \\(${its.rotated.activeId}`)),
      );
      await assert.rejects(
        its.store.write((tx) => noteUsed(tx, its.ring)),
        refusal('invalid_argument', /another key/),
      );
      await its.store.write((tx) => takeOver(tx, its.ring));
      await assertSameKey(its.store, its.ring);
    });

    test('T19: a rotation since the key file was read stops no write, whose ledger row has the new key', async () => {
      let ring = its.ring;
      // A clock that does not move: what was read once is used without another look.
      const clock = { ...systemClock, monotonic: () => 0 };
      const store = await its.database.open({ clock, keyring: () => Promise.resolve(ring) });
      await store.write(() => Promise.resolve());
      ring = its.rotated;
      await its.store.write((tx) => takeOver(tx, its.rotated));
      await store.write((tx) => {
        tx.record({ ...BY, operation: 'seal.rotate', target: 'x', detail: {} });
        return Promise.resolve();
      });
      const rows = await store.db.selectFrom('ledger').select(['target', 'key_id']).execute();
      assert.deepEqual(rows, [{ target: 'x', key_id: its.rotated.activeId }]);
    });

    test('of two first starts at the same time with different keys, one succeeds', async () => {
      const other = await its.database.open();
      for (let round = 0; round < 10; round += 1) {
        await its.store.write(({ db }) => db.deleteFrom('seal').execute());
        const both = await Promise.allSettled([
          assertSameKey(its.store, its.ring),
          assertSameKey(other, createKeyring([its.second])),
        ]);
        assert.deepEqual(both.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected']);
      }
    });

    test('a rotation seals everything again, in batches, and the ledger records each changed digest', async () => {
      for (let n = 0; n < 150; n += 1) await set(its.store, its.ring, `value ${n}`, { project: 'p', name: `s${n}` });
      for (let n = 1; n <= 9; n += 1) await addState(its.store, its.ring, n, `state ${n}`);
      const plan = await addPlan(its.store, its.ring, 'the plan');
      assert.deepEqual(await resealAll(its.store, its.rotated, BY), { count: 160, broken: [] });
      const { total, old, foreign } = await countSealed(its.store.db, createKeyring([its.second]));
      assert.deepEqual({ total, old, foreign }, { total: 160, old: 0, foreign: 0 });
      for (const n of [0, 63, 64, 149]) assert.equal(await valueOf(its.store, its.rotated, `p/s${n}`), `value ${n}`);
      const states = await its.store.db.selectFrom('states').selectAll().execute();
      assert.deepEqual(
        states.map((row) => String(Buffer.from(its.rotated.open(stateLabel(row), row.sealed)))).toSorted(),
        Array.from({ length: 9 }, (_, n) => `state ${n + 1}`),
      );
      const resealed = await its.store.db.selectFrom('artifacts').selectAll().executeTakeFirstOrThrow();
      assert.equal(resealed.digest, hash('sha256', resealed.sealed));
      assert.notEqual(resealed.digest, plan.digest);
      assert.equal(String(Buffer.from(its.rotated.open(planLabel(resealed), resealed.sealed))), 'the plan');
      assert.equal(
        String(Buffer.from(its.rotated.open(planViewLabel(resealed), resealed.sealed_view))),
        'view of the plan',
      );
      const asked = await its.store.db.selectFrom('approvals').select('plan_digest').executeTakeFirstOrThrow();
      assert.equal(asked.plan_digest, resealed.digest, 'the approval pins the plan as it is now');
      const answer = await its.store.db
        .selectFrom('ledger')
        .selectAll()
        .where('operation', '=', 'seal.rotate')
        .execute();
      assert.deepEqual(
        answer.map(({ target, detail }) => [target, JSON.parse(detail) as unknown]),
        [[plan.id, { digest: resealed.digest, digest_before: plan.digest }]],
      );
      assert.deepEqual(await resealAll(its.store, its.rotated, BY), { count: 0, broken: [] });
    });

    test('an approval that is requested during a rotation pins the resealed plan', async () => {
      const plan = await addPlan(its.store, its.ring, 'the plan');
      await its.store.write(async (tx) => {
        await tx.db.deleteFrom('approvals').execute();
        await insertWorkspace(tx, workspaceRow('net'));
      });
      await rewrite(its.store, 'artifacts', {}, plan.id);
      const other = await its.database.open();
      let rotation: Promise<unknown> = Promise.resolve();
      await its.store.write(async (tx) => {
        const asker: Asker = { trigger: 'schedule', requestedBy: 'ana', owners: ['ana'] };
        const request = { kind: 'apply', workspace: 'net', plan: plan.id, runSecrets: {}, timeoutMs: 60_000 } as const;
        const deps = { wake: () => undefined, approvalTtlMs: 60_000 };
        await queueWorkspaceRun({ tx, deps, asker, gate: { origin: 'schedule', ttlMs: 60_000 } }, request);
        rotation = resealAll(other, its.rotated, BY);
        // A rotation that nothing holds up is through long before.
        await Promise.race([rotation, pause(systemClock, 300)]);
      });
      assert.deepEqual(await rotation, { count: 1, broken: [] });
      const { digest } = await its.store.db.selectFrom('artifacts').select('digest').executeTakeFirstOrThrow();
      const asked = await its.store.db.selectFrom('approvals').select('plan_digest').executeTakeFirstOrThrow();
      assert.notEqual(digest, plan.digest);
      assert.equal(asked.plan_digest, digest);
    });

    test('T19: a rotation leaves and names values that were altered or have an unknown key', async () => {
      for (let n = 0; n < 70; n += 1) await set(its.store, its.ring, `value ${n}`, { project: 'p', name: `s${n}` });
      await its.store.write(({ db }) =>
        db
          .updateTable('secrets')
          .set({ sealed: randomBytes(80) })
          .where('name', 'in', ['s1', 's2'])
          .execute(),
      );
      const plan = await addPlan(its.store, its.ring, 'the plan');
      await its.store.write(({ db }) => db.updateTable('artifacts').set({ digest: 'another' }).execute());
      await set(its.store, createKeyring([newKey()]), 'x', { project: 'q', name: 'foreign' });
      const { count, broken } = await resealAll(its.store, its.rotated, BY);
      assert.deepEqual([count, broken], [68, ['secret p/s1', 'secret p/s2', `plan ${plan.id}`]]);
      const { old, foreign } = await countSealed(its.store.db, its.rotated);
      assert.deepEqual({ old, foreign }, { old: 3, foreign: 1 });
    });

    test('a rotation that was cut short continues where it stopped, and never restores an old value', async () => {
      for (let n = 0; n < 200; n += 1) await set(its.store, its.ring, `value ${n}`, { project: 'p', name: `s${n}` });
      const other = await its.database.open();
      let pages = 0;
      const cut: Store = {
        ...its.store,
        write: (work) => ((pages += 1) > 2 ? Promise.reject(new Error('killed')) : its.store.write(work)),
      };
      await assert.rejects(resealAll(cut, its.rotated, BY), /killed/);
      const { old } = await countSealed(its.store.db, its.rotated);
      assert.ok(old > 0 && old < 200, `${old} are left`);
      const sets = Array.from({ length: 60 }, (_, n) =>
        set(other, n % 2 === 0 ? its.ring : its.rotated, `newer ${n}`, { project: 'p', name: `s${199 - n}` }),
      );
      await Promise.all([resealAll(its.store, its.rotated, BY), resealAll(other, its.rotated, BY), ...sets]);
      await resealAll(its.store, its.rotated, BY);
      assert.equal((await countSealed(its.store.db, its.rotated)).old, 0);
      for (let n = 0; n < 200; n += 1)
        assert.equal(await valueOf(its.store, its.rotated, `p/s${n}`), n < 140 ? `value ${n}` : `newer ${199 - n}`);
    });
  });
}
