/** Rows with ids that no daemon has made, on each engine: they name nothing on the disk, and hold up no other row. */
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { Presence } from '../../../src/daemon/core/presence.ts';
import { createSignals } from '../../../src/daemon/core/signals.ts';
import { rescueOnce } from '../../../src/daemon/jobs/rescue.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { newId } from '../../../src/lib/id.ts';
import { markStopped } from '../../../src/store/maintenance/daemons.ts';
import type { Store } from '../../../src/store/store.ts';
import { HERE, openTestStore, type TestStore } from '../../support/store/job-store.ts';
import { end, scene, until } from '../../support/store/work-scene.ts';
import { addDaemon, enqueue, ENGINES, freshStore, stateOf } from '../engine-fixture.ts';

const WELL_FORMED = newId('job', Date.now());

const HOSTILE = [
  '',
  '.',
  '..',
  '../victim',
  '../../victim',
  `${WELL_FORMED}/../../victim`,
  'victim/inner',
  '/etc/passwd',
  '-rf',
  '.initialised',
  '.vendored',
  `${WELL_FORMED}.outer`,
  `${WELL_FORMED}.in`,
  `${WELL_FORMED}\n`,
  WELL_FORMED.toUpperCase(),
  'job_%2e%2e%2fvictim',
  'job_\u0456\u202e\u2215..',
  'job_\u{1f512}',
  'x'.repeat(10 * 1024),
  // PostgreSQL takes no NUL.
  'job_\0..',
];

const REFUSED = 'Integrity: the id of this job is malformed. Nothing was run.';
const COMMAND = JSON.stringify({ inventory: 'localhost', limit: null, command: ['/bin/true'], egressPorts: [] });

/** All that is below a folder. */
function tree(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted();
}

/** Folders and files that the ids lead to from the folder of runs, and from that of instances. */
function plant({ runsDir, instancesDir }: TestStore): () => string[] {
  const base = dirname(runsDir);
  for (const folder of [base, runsDir, instancesDir]) {
    mkdirSync(join(folder, 'victim', 'inner'), { recursive: true });
    for (const file of ['victim.lock', 'checks.lock', 'victim/inner/file', '.victim.partial'])
      writeFileSync(join(folder, file), '');
  }
  return () => tree(base).filter((path) => !path.startsWith('store.db'));
}

async function deadDaemon(store: Store): Promise<string> {
  const id = newId('dmn', Date.now());
  await addDaemon(store, id);
  await store.write((tx) => markStopped(tx, id));
  return id;
}

async function setUp(t: TestContext, store: Store): Promise<TestStore> {
  const on = await openTestStore(store);
  t.after(() => on.close());
  return on;
}

/** One pass of the rescue. Answers the jobs whose processes were looked for. */
async function rescue(on: TestStore): Promise<string[]> {
  const asked: string[] = [];
  const deps = {
    ...on,
    clock: systemClock,
    machine: HERE,
    async endTree({ jobId }: { readonly jobId: string }) {
      asked.push(jobId);
      return { left: [] };
    },
    announceJob: () => undefined,
    signals: createSignals(),
    self: () => 'dmn_self',
  };
  await rescueOnce(deps, new AbortController().signal);
  return asked;
}

for (const engine of ENGINES) {
  describe(`Hostile ids on ${engine.name}`, () => {
    const its = freshStore(engine);
    const hostile = HOSTILE.filter((id) => engine.name === 'SQLite' || !id.includes('\0'));

    test('T81: a queued job with such an id fails with a sentence, and the next job runs', async (t) => {
      const on = await scene(t, { store: its.store, maxJobs: hostile.length + 1 });
      const found = plant(on);
      const before = found();
      for (const id of hostile) await enqueue(its.store, { id, spec: COMMAND });
      const good = await enqueue(its.store, { spec: COMMAND });
      await on.work.claimOnce();
      await until(() => on.programs.length === 1 && on.freed.length === hostile.length);
      end(on, 0);
      await until(() => on.freed.length === hostile.length + 1);
      for (const id of hostile) {
        const { state, reason } = await on.row(id);
        assert.deepEqual([state, reason], ['failed', REFUSED], JSON.stringify(id));
      }
      assert.equal(await stateOf(its.store, good), 'succeeded');
      assert.deepEqual(found(), before);
    });

    test('T81: one that a dead daemon seems to have run ends as interrupted, and nothing is looked for', async (t) => {
      const on = await setUp(t, its.store);
      const found = plant(on);
      const before = found();
      const daemonId = await deadDaemon(its.store);
      const ids = [...hostile, await enqueue(its.store)];
      for (const id of hostile) await enqueue(its.store, { id });
      await its.store.write((tx) =>
        tx.db
          .updateTable('jobs')
          .set({ state: 'running', daemon_id: daemonId, leader_pid: process.pid, leader_start: 1 })
          .execute(),
      );
      assert.deepEqual(await rescue(on), [ids.at(-1)]);
      for (const id of ids) assert.equal(await stateOf(its.store, id), 'interrupted', JSON.stringify(id));
      assert.deepEqual(found(), before);
    });

    test('T81: a job of an unknown kind fails, or ends as interrupted, and holds up no other', async (t) => {
      const on = await scene(t, { store: its.store, maxJobs: 3 });
      const kinds = ['nothing', '__proto__', '../command'] as never[];
      const lost = await Promise.all(kinds.map((kind) => enqueue(its.store, { kind })));
      const daemonId = await deadDaemon(its.store);
      await its.store.write((tx) => tx.db.updateTable('jobs').set({ state: 'running', daemon_id: daemonId }).execute());
      assert.deepEqual(await rescue(on), []);
      for (const id of lost) assert.equal(await stateOf(its.store, id), 'interrupted');
      const id = await enqueue(its.store, { kind: 'nothing' as never });
      await enqueue(its.store, { spec: COMMAND });
      await on.work.claimOnce();
      await until(() => on.programs.length === 1 && on.freed.length === 1);
      end(on, 0);
      await until(() => on.freed.length === 2);
      const { state, reason } = await on.row(id);
      assert.deepEqual([state, reason], ['failed', 'Integrity: the kind of this job is unknown. Nothing was run.']);
    });

    test('T81: the sweep of run directories takes no folder for that of a job with such an id', async (t) => {
      const on = await setUp(t, its.store);
      for (const id of hostile) await enqueue(its.store, { id });
      const good = await enqueue(its.store);
      await its.store.write((tx) => tx.db.updateTable('jobs').set({ state: 'succeeded' }).execute());
      const found = plant(on);
      // As the sweep reads names, these are of the ids "", ".", ".." and of others above.
      for (const name of ['.outer', '.gone', '..in', '...outer', '-rf', '.initialised.outer'])
        mkdirSync(join(on.runsDir, name, 'inner'), { recursive: true });
      const before = found();
      mkdirSync(join(on.runsDir, good, 'inner'), { recursive: true });
      await rescue(on);
      assert.deepEqual(found(), before);
    });

    test('T81: a daemon with such an id is dead, and no file is taken for its lock', async (t) => {
      const on = await setUp(t, its.store);
      const found = plant(on);
      const before = found();
      const ids = [...hostile, 'checks', 'victim'];
      for (const id of ids) await addDaemon(its.store, id, engine.hasLeases ? 0 : null);
      await new Presence({ ...on, clock: systemClock, self: () => 'dmn_self' }).look();
      const alive = await its.store.db.selectFrom('daemons').select('id').where('stopped_at', 'is', null).execute();
      assert.deepEqual(alive, []);
      assert.deepEqual(found(), before);
    });
  });
}
