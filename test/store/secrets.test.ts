/** Secrets and what is sealed, on both databases. */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { after, before, beforeEach, describe, test } from 'node:test';
import { pause, systemClock } from '../../src/lib/clock.ts';
import { newId } from '../../src/lib/id.ts';
import { randomBytes } from '../../src/lib/random.ts';
import { createKeyring, type Keyring, type SealFileKey } from '../../src/lib/seal.ts';
import { type Asker, queueWorkspaceRun } from '../../src/reaction/queue.ts';
import type { ArtifactRow } from '../../src/store/schema.ts';
import { assertSameKey, countSealed, holdsSealed, noteUsed, planLabel, planViewLabel, resealAll, stateLabel, takeOver } from '../../src/store/seal.ts';
import { listSecrets, readSecrets, removeSecret, requireSecrets, type SecretName, setSecret } from '../../src/store/secrets.ts';
import type { Store } from '../../src/store/store.ts';
import { insertWorkspace } from '../../src/store/workspaces.ts';
import { refusal } from '../support/refusal.ts';
import { workspaceRow } from '../support/workspace-row.ts';
import { ENGINES, type TestDatabase, wipe } from './kit.ts';

const BY = { principal: 'ana', owner: 'ana', via: 'cli' };
const TOKEN: SecretName = { project: 'net', name: 'token' };

function newKey(): SealFileKey {
  return { key: randomBytes(32), createdAt: 1_000 };
}

function set(store: Store, ring: Keyring, value: string, secret = TOKEN) {
  return store.write((tx) => setSecret(tx, ring, secret, Buffer.from(value)));
}

async function valueOf(store: Store, ring: Keyring, ref: string): Promise<string> {
  return String((await readSecrets(store.db, ring, { x: ref })).get('x'));
}

async function addState(store: Store, ring: Keyring, version: number, content: string): Promise<void> {
  const facts = { workspace: 'net', version, serial: version, lineage: 'l' };
  const sealed = ring.seal(stateLabel(facts), Buffer.from(content));
  await store.write(({ db, now }) =>
    db.insertInto('states').values({ ...facts, resources: 1, job_id: null, sealed, key_id: ring.activeId, created_at: now }).execute(),
  );
}

/** A saved plan that an approval was asked for. */
async function addPlan(store: Store, ring: Keyring, content: string): Promise<ArtifactRow> {
  const about = { lineage: 'l', tree_digest: 'd', verdict: 'clean', secrets: '{}' } as const;
  const names = { id: newId('art', Date.now()), workspace: 'net', serial: 4, job_id: newId('job', Date.now()), ...about };
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
    owners: '["ana"]',
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
  describe(`On ${engine.name}`, () => {
    let database: TestDatabase;
    let store: Store;
    let [first, second] = [newKey(), newKey()];
    let [ring, rotated] = [createKeyring([first]), createKeyring([first, second])];
    before(async () => {
      database = await engine.create();
      store = await database.open();
    });
    after(() => database.remove());
    beforeEach(async () => {
      [first, second] = [newKey(), newKey()];
      [ring, rotated] = [createKeyring([first]), createKeyring([first, second])];
      await wipe(store);
      await store.write(async ({ db }) => {
        for (const table of ['secrets', 'states', 'artifacts', 'approvals', 'seal'] as const) await db.deleteFrom(table).execute();
      });
    });

    test('a secret is read as it was set, bytes included, and the store holds neither it nor its base64 or hex', async () => {
      const value = 'gr\u00fc\u00df\u{1F511}\nline two';
      const facts = await set(store, ring, value);
      assert.deepEqual({ ...facts, created_at: 0, updated_at: 0 }, { ...TOKEN, version: 1, created_at: 0, updated_at: 0 });
      assert.equal(await valueOf(store, ring, 'net/token'), value);
      const row = await store.db.selectFrom('secrets').selectAll().executeTakeFirstOrThrow();
      for (const form of ['utf8', 'base64', 'hex'] as const) {
        assert.equal(Buffer.from(row.sealed).includes(Buffer.from(value).toString(form)), false);
      }
    });

    test('a value that is set again is the next version, and the one before it is gone', async () => {
      const one = await set(store, ring, 'first');
      const sealed = (await store.db.selectFrom('secrets').select('sealed').executeTakeFirstOrThrow()).sealed;
      const two = await set(store, ring, 'second');
      assert.deepEqual([one.version, two.version, two.created_at], [1, 2, one.created_at]);
      assert.ok(two.updated_at >= one.updated_at);
      assert.equal((await listSecrets(store.db)).length, 1);
      assert.equal(await valueOf(store, ring, 'net/token'), 'second');
      // T19: also where somebody who can write the database puts the old one back.
      await store.write(({ db }) => db.updateTable('secrets').set({ sealed }).execute());
      await assert.rejects(valueOf(store, ring, 'net/token'), refusal('conflict', /^Integrity: the secret net\/token can not be used: .*altered/));
    });

    test('of thirty that set one secret at once from two processes each makes a version, and the last one is kept', async () => {
      const other = await database.open();
      const done = await Promise.all(Array.from({ length: 30 }, (_, n) => set(n % 2 === 0 ? store : other, ring, `value ${n}`)));
      assert.deepEqual(done.map(({ version }) => version).toSorted((a, b) => a - b), Array.from({ length: 30 }, (_, n) => n + 1));
      const last = done.findIndex(({ version }) => version === 30);
      assert.equal(await valueOf(store, ring, 'net/token'), `value ${last}`);
    });

    test('secrets are listed by project and name, without anything of their values', async () => {
      for (const [project, name] of [['net', 'b'], ['app', 'z'], ['net', 'a']] as const) await set(store, ring, 'x', { project, name });
      const rows = await listSecrets(store.db);
      assert.deepEqual(rows.map(({ project, name }) => `${project}/${name}`), ['app/z', 'net/a', 'net/b']);
      assert.deepEqual(Object.keys(rows[0] ?? {}), ['project', 'name', 'version', 'created_at', 'updated_at']);
    });

    test('a removed secret is not found, and may be set again', async () => {
      await set(store, ring, 'x');
      assert.equal((await store.write((tx) => removeSecret(tx, TOKEN))).version, 1);
      await assert.rejects(store.write((tx) => removeSecret(tx, TOKEN)), refusal('not_found', /^There is no secret net\/token\.$/));
      await assert.rejects(readSecrets(store.db, ring, { a: 'net/token' }), refusal('not_found', /no secret net\/token/));
      await assert.rejects(requireSecrets(store.db, { a: 'net/token' }), refusal('not_found', /no secret net\/token/));
      assert.equal((await set(store, ring, 'y')).version, 1);
    });

    test('a run gets each of its secrets by variable, one under two names too, and the missing one is named', async () => {
      await set(store, ring, 'x');
      await set(store, ring, 'y', { project: 'app', name: 'key' });
      const refs = { A: 'net/token', B: 'app/key', C: 'net/token' };
      assert.deepEqual(await readSecrets(store.db, ring, refs), new Map([['A', 'x'], ['B', 'y'], ['C', 'x']].map(([k = '', v = '']) => [k, Buffer.from(v)])));
      await requireSecrets(store.db, refs);
      assert.deepEqual(await readSecrets(store.db, ring, {}), new Map());
      await assert.rejects(readSecrets(store.db, ring, { ...refs, D: 'net/key' }), refusal('not_found', /^There is no secret net\/key\.$/));
    });

    test('T19: a value that was moved to another secret is refused', async () => {
      await set(store, ring, 'harmless');
      await set(store, ring, 'precious', { project: 'app', name: 'key' });
      const { sealed } = await store.db.selectFrom('secrets').select('sealed').where('project', '=', 'app').executeTakeFirstOrThrow();
      await store.write(({ db }) => db.updateTable('secrets').set({ sealed }).where('project', '=', 'net').execute());
      await assert.rejects(valueOf(store, ring, 'net/token'), refusal('conflict', /Integrity/));
      await assert.rejects(valueOf(store, createKeyring([second]), 'app/key'), refusal('conflict', /a key that is not here/));
    });

    test('what is sealed is counted by whether its key is here and seals', async () => {
      assert.equal(await holdsSealed(store.db), false);
      await set(store, ring, 'x');
      await addState(store, ring, 1, 's');
      await addPlan(store, createKeyring([newKey()]), 'p');
      await set(store, rotated, 'y', { project: 'app', name: 'key' });
      assert.equal(await holdsSealed(store.db), true);
      const { total, foreign, old, used } = await countSealed(store.db, rotated);
      assert.deepEqual({ total, foreign, old, used }, { total: 4, foreign: 1, old: 2, used: null });
      assert.equal((await countSealed(store.db, null)).foreign, 4);
    });

    test('the first process notes its key; one that has not that key is refused, one that has rotated is not', async () => {
      await assertSameKey(store, ring);
      await assertSameKey(store, ring);
      await assert.rejects(assertSameKey(store, createKeyring([second])), refusal('invalid_argument', /^--seal-key-file: this store is sealed with another key/));
      await assertSameKey(store, rotated);
      await store.write((tx) => noteUsed(tx, rotated));
      assert.equal((await countSealed(store.db, rotated)).used?.key_id, rotated.activeId);
      await assert.rejects(assertSameKey(store, ring), refusal('invalid_argument', new RegExp(`another key \\(${rotated.activeId}`)));
      await assert.rejects(store.write((tx) => noteUsed(tx, ring)), refusal('invalid_argument', /another key/));
      await store.write((tx) => takeOver(tx, ring));
      await assertSameKey(store, ring);
    });

    test('of two that start first at once with keys of their own, one gets on', async () => {
      const other = await database.open();
      for (let round = 0; round < 10; round += 1) {
        await store.write(({ db }) => db.deleteFrom('seal').execute());
        const both = await Promise.allSettled([assertSameKey(store, ring), assertSameKey(other, createKeyring([second]))]);
        assert.deepEqual(both.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected']);
      }
    });

    test('a rotation seals everything anew, in pages, and says so in the ledger where a digest changes', async () => {
      for (let n = 0; n < 150; n += 1) await set(store, ring, `value ${n}`, { project: 'p', name: `s${n}` });
      for (let n = 1; n <= 9; n += 1) await addState(store, ring, n, `state ${n}`);
      const plan = await addPlan(store, ring, 'the plan');
      assert.deepEqual(await resealAll(store, rotated, BY), { count: 160, broken: [] });
      const { total, old, foreign } = await countSealed(store.db, createKeyring([second]));
      assert.deepEqual({ total, old, foreign }, { total: 160, old: 0, foreign: 0 });
      for (const n of [0, 63, 64, 149]) assert.equal(await valueOf(store, rotated, `p/s${n}`), `value ${n}`);
      const states = await store.db.selectFrom('states').selectAll().execute();
      assert.deepEqual(states.map((row) => String(Buffer.from(rotated.open(stateLabel(row), row.sealed)))).toSorted(), Array.from({ length: 9 }, (_, n) => `state ${n + 1}`));
      const anew = await store.db.selectFrom('artifacts').selectAll().executeTakeFirstOrThrow();
      assert.equal(anew.digest, hash('sha256', anew.sealed));
      assert.notEqual(anew.digest, plan.digest);
      assert.equal(String(Buffer.from(rotated.open(planLabel(anew), anew.sealed))), 'the plan');
      assert.equal(String(Buffer.from(rotated.open(planViewLabel(anew), anew.sealed_view))), 'view of the plan');
      const asked = await store.db.selectFrom('approvals').select('plan_digest').executeTakeFirstOrThrow();
      assert.equal(asked.plan_digest, anew.digest, 'the approval pins the plan as it is now');
      const told = await store.db.selectFrom('ledger').selectAll().where('operation', '=', 'seal.rotate').execute();
      assert.deepEqual(told.map(({ target, detail }) => [target, JSON.parse(detail) as unknown]), [[plan.id, { digest: anew.digest, digest_before: plan.digest }]]);
      assert.deepEqual(await resealAll(store, rotated, BY), { count: 0, broken: [] });
    });

    test('a plan that is asked about while the key is rotated is pinned as it is afterwards', async () => {
      const plan = await addPlan(store, ring, 'the plan');
      await store.write(async (tx) => {
        await tx.db.deleteFrom('approvals').execute();
        await insertWorkspace(tx, workspaceRow('net'));
      });
      const other = await database.open();
      let rotation: Promise<unknown> = Promise.resolve();
      await store.write(async (tx) => {
        const asker: Asker = { trigger: 'schedule', requestedBy: 'ana', owners: ['ana'] };
        const request = { kind: 'apply', workspace: 'net', plan: plan.id, runSecrets: {}, timeoutMs: 60_000 } as const;
        await queueWorkspaceRun(tx, { wake: () => undefined, approvalTtlMs: 60_000 }, asker, request, { origin: 'schedule', ttlMs: 60_000 });
        rotation = resealAll(other, rotated, BY);
        // A rotation that nothing holds up is through long before.
        await Promise.race([rotation, pause(systemClock, 300)]);
      });
      assert.deepEqual(await rotation, { count: 1, broken: [] });
      const { digest } = await store.db.selectFrom('artifacts').select('digest').executeTakeFirstOrThrow();
      const asked = await store.db.selectFrom('approvals').select('plan_digest').executeTakeFirstOrThrow();
      assert.notEqual(digest, plan.digest);
      assert.equal(asked.plan_digest, digest);
    });

    test('T19: a rotation leaves alone and names what was altered, and what is under a key that is not here', async () => {
      for (let n = 0; n < 70; n += 1) await set(store, ring, `value ${n}`, { project: 'p', name: `s${n}` });
      await store.write(({ db }) => db.updateTable('secrets').set({ sealed: randomBytes(80) }).where('name', 'in', ['s1', 's2']).execute());
      const plan = await addPlan(store, ring, 'the plan');
      await store.write(({ db }) => db.updateTable('artifacts').set({ digest: 'another' }).execute());
      await set(store, createKeyring([newKey()]), 'x', { project: 'q', name: 'foreign' });
      const { count, broken } = await resealAll(store, rotated, BY);
      assert.deepEqual([count, broken], [68, ['secret p/s1', 'secret p/s2', `plan ${plan.id}`]]);
      const { old, foreign } = await countSealed(store.db, rotated);
      assert.deepEqual({ old, foreign }, { old: 3, foreign: 1 });
    });

    test('a rotation that was cut short goes on where it was, and never puts an old value in place of a new one', async () => {
      for (let n = 0; n < 200; n += 1) await set(store, ring, `value ${n}`, { project: 'p', name: `s${n}` });
      const other = await database.open();
      let pages = 0;
      const cut: Store = { ...store, write: (work) => ((pages += 1) > 2 ? Promise.reject(new Error('killed')) : store.write(work)) };
      await assert.rejects(resealAll(cut, rotated, BY), /killed/);
      const { old } = await countSealed(store.db, rotated);
      assert.ok(old > 0 && old < 200, `${old} are left`);
      const sets = Array.from({ length: 60 }, (_, n) => set(other, n % 2 === 0 ? ring : rotated, `newer ${n}`, { project: 'p', name: `s${199 - n}` }));
      await Promise.all([resealAll(store, rotated, BY), resealAll(other, rotated, BY), ...sets]);
      await resealAll(store, rotated, BY);
      assert.equal((await countSealed(store.db, rotated)).old, 0);
      for (let n = 0; n < 200; n += 1) assert.equal(await valueOf(store, rotated, `p/s${n}`), n < 140 ? `value ${n}` : `newer ${199 - n}`);
    });
  });
}
