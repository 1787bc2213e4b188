import assert from 'node:assert/strict';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { jobIdPart, pathPart } from '../../domain/path-part.ts';
import { systemClock } from '../../lib/clock.ts';
import { termDirOf } from '../../runners/process/term-once.ts';
import type { EndTreeOptions } from '../../runners/process/tree.ts';
import { fenceOf, recordLeader } from '../../store/jobs/claims.ts';
import { holdLock, lockFile } from '../../store/engine/instance-lock.ts';
import { findJob, getJob } from '../../store/jobs/jobs.ts';
import { listOrphans } from '../../store/maintenance/daemons.ts';
import type { Pass } from '../core/loop.ts';
import { Presence, presenceLoop } from '../core/presence.ts';
import { claim, endJob } from './job-transitions.ts';
import { rescueLoop, rescueOnce, type RescueDeps } from './rescue.ts';
import { createSignals } from '../core/signals.ts';
import { HERE, openTestStore, type TestStore } from '../../../test/support/store/job-store.ts';

const UNKNOWN = 'job_01m7yd4zyke00anp2z332d2j5p';
const LEADER = { pid: 4_000_000, startTicks: 77 };

interface Scene extends TestStore {
  readonly self: string;
  /** What was asked to end, and the state of the job at that moment. */
  readonly asked: { options: EndTreeOptions; state: string }[];
  readonly announced: string[];
  /** The jobs whose control groups exist, and what was the state of each when its group was removed. */
  readonly groups: Map<string, string | null>;
  /** What was still to be ended each time that shared memory was emptied. */
  readonly emptied: string[][];
  rescue(left?: number[], formerRunsDirs?: string[]): Promise<Pass>;
  state(id: string): Promise<string>;
}

async function scene(t: TestContext): Promise<Scene> {
  const setup = await openTestStore();
  t.after(() => setup.close());
  const self = await setup.daemon();
  const asked: Scene['asked'] = [];
  const announced: string[] = [];
  const groups: Scene['groups'] = new Map();
  const emptied: string[][] = [];
  const state = async (id: string): Promise<string> => (await getJob(setup.store.db, id)).state;
  const presence = new Presence({ ...setup, clock: systemClock, self: () => self });
  const rescue = async (left: number[] = [], formerRunsDirs: string[] = []): Promise<Pass> => {
    const deps: RescueDeps = {
      ...setup,
      formerRunsDirs,
      clock: systemClock,
      machine: HERE,
      async endTree(options) {
        asked.push({ options, state: await state(options.jobId) });
        return { left };
      },
      bounds: {
        leftovers: () => [...groups].flatMap(([id, removed]) => (removed === null ? [jobIdPart(id)] : [])),
        remove: async (id) => void groups.set(id, (await findJob(setup.store.db, id))?.state ?? 'unknown'),
      },
      sharedMemory: { empty: async () => void emptied.push((await listOrphans(setup.store.db)).map(({ id }) => id)) },
      announceJob: (id) => void announced.push(id),
      signals: createSignals(),
      self: () => self,
    };
    await presence.look();
    return rescueOnce(deps, new AbortController().signal);
  };
  return { ...setup, self, asked, announced, groups, emptied, rescue, state };
}

/** A job that `daemonId` has claimed and, by default, started. */
async function runningJob(
  setup: TestStore,
  daemonId: string,
  key: string | null = null,
  started = true,
): Promise<string> {
  const id = await setup.job(key);
  const [claimed] = await setup.store.write((tx) => claim(tx, { id: daemonId, node: 'here' }, 1));
  assert.ok(claimed !== undefined && claimed.row.id === id);
  if (started) await setup.store.write((tx) => recordLeader(tx, fenceOf(claimed.row), LEADER));
  return id;
}

describe('rescue', () => {
  test('T91: empties shared memory at the start, after the jobs of dead daemons have ended', async (t) => {
    const on = await scene(t);
    const dead = await runningJob(on, await on.daemon());
    await on.rescue();
    assert.deepEqual([await on.state(dead), on.emptied], ['interrupted', [[]]]);
  });

  test('removes the group of a job before it ends the job, and groups without a job that runs', async (t) => {
    const on = await scene(t);
    const dead = await runningJob(on, await on.daemon());
    const ours = await runningJob(on, on.self);
    for (const id of [dead, ours, UNKNOWN]) on.groups.set(id, null);
    await on.rescue();
    assert.deepEqual(
      [dead, ours, UNKNOWN].map((id) => on.groups.get(id)),
      ['running', null, 'unknown'],
    );
  });

  test('keeps the group of a job whose processes do not end', async (t) => {
    const on = await scene(t);
    const dead = await runningJob(on, await on.daemon());
    on.groups.set(dead, null);
    await on.rescue([4_000_001]);
    assert.deepEqual([on.groups.get(dead), await on.state(dead)], [null, 'running']);
  });

  test('F01: what a dead daemon left is ended first, marked interrupted then, and its key is free', async (t) => {
    const on = await scene(t);
    const id = await runningJob(on, await on.daemon(), 'k');
    const next = await on.job('k');
    await on.rescue();
    assert.deepEqual(
      on.asked.map(({ options, state }) => [options.jobId, options.recorded, state]),
      [[id, LEADER, 'running']],
    );
    assert.deepEqual([await on.state(id), on.announced], ['interrupted', [id]]);
    const claimed = await on.store.write((tx) => claim(tx, { id: on.self, node: 'here' }, 5));
    assert.deepEqual(
      claimed.map(({ row }) => row.id),
      [next],
    );
  });

  test('F02: while a process of the job cannot be ended, the job keeps its state and its key', async (t) => {
    const on = await scene(t);
    const id = await runningJob(on, await on.daemon(), 'k');
    await on.job('k');
    assert.ok('dueMs' in (await on.rescue([4_000_001])), 'it is tried again, with or without a commit');
    assert.deepEqual([await on.state(id), on.announced], ['running', []]);
    assert.deepEqual(await on.store.write((tx) => claim(tx, { id: on.self, node: 'here' }, 5)), []);
    await on.rescue();
    assert.equal(await on.state(id), 'interrupted');
  });

  test('a daemon whose lock is held is left alone, and so is this one', async (t) => {
    const on = await scene(t);
    const other = await on.daemon();
    const lock = holdLock(lockFile(on.instancesDir, pathPart('id', other)));
    t.after(() => lock.release());
    const ids = [await runningJob(on, other), await runningJob(on, on.self)];
    await on.rescue();
    for (const id of ids) assert.equal(await on.state(id), 'running');
    assert.deepEqual(on.asked, []);
  });

  test('a daemon that is found dead wakes the rescue, once', async (t) => {
    const on = await scene(t);
    await on.daemon();
    const presence = new Presence({ ...on, clock: systemClock, self: () => on.self });
    const woken: string[] = [];
    for (let n = 0; n < 2; n += 1)
      await presenceLoop({ presence, wakeUp: (why) => void woken.push(why) }).once(new AbortController().signal);
    assert.deepEqual([woken, rescueLoop({} as never).wakeOn], [['daemon-died'], ['daemon-died']]);
  });

  test('F09: a torn lock file locks nothing, and is removed with its daemon', async (t) => {
    const on = await scene(t);
    const other = await on.daemon();
    writeFileSync(lockFile(on.instancesDir, pathPart('id', other)), 'torn'.repeat(50));
    const id = await runningJob(on, other);
    await on.rescue();
    assert.equal(await on.state(id), 'interrupted');
    assert.equal(existsSync(lockFile(on.instancesDir, pathPart('id', other))), false);
  });

  test('a job that had no program yet has no process to look for', async (t) => {
    const on = await scene(t);
    const id = await runningJob(on, await on.daemon(), null, false);
    await on.rescue();
    assert.deepEqual([await on.state(id), on.asked], ['interrupted', []]);
  });

  test('F09: pids of another boot or another machine are not looked for here', async (t) => {
    const on = await scene(t);
    const ids = [
      await runningJob(on, await on.daemon({ host: HERE.host, bootId: 'before' })),
      await runningJob(on, await on.daemon({ host: 'elsewhere', bootId: HERE.bootId })),
    ];
    await on.rescue();
    for (const id of ids) assert.equal(await on.state(id), 'interrupted');
    assert.deepEqual(on.asked, []);
  });

  test('F03: a late end of the run changes nothing after the rescue', async (t) => {
    const on = await scene(t);
    const other = await on.daemon();
    const id = await runningJob(on, other);
    const fence = fenceOf(await getJob(on.store.db, id));
    await on.rescue();
    const late = await on.store.write((tx) => endJob(tx, fence, { state: 'succeeded', exitCode: 0 }, 'run'));
    assert.deepEqual([late, await on.state(id)], [false, 'interrupted']);
  });

  test('directories of runs that have ended are removed, those of running and of unknown jobs stay', async (t) => {
    const on = await scene(t);
    const running = await runningJob(on, on.self);
    const ended = await runningJob(on, await on.daemon());
    const folders = [running, ended, UNKNOWN, 'notes'];
    for (const name of folders) mkdirSync(join(on.runsDir, name, 'closed', 'deep'), { recursive: true });
    await on.rescue();
    assert.deepEqual(
      folders.map((name) => existsSync(join(on.runsDir, name))),
      [true, false, true, true],
    );
  });

  test('also where the directories of runs were before an upgrade', async (t) => {
    const on = await scene(t);
    const ended = await runningJob(on, await on.daemon());
    const former = join(on.runsDir, '..', 'former');
    mkdirSync(join(former, ended, 'deep'), { recursive: true });
    await on.rescue([], [former, join(on.runsDir, '..', 'removed')]);
    assert.deepEqual(
      [existsSync(join(former, ended)), on.asked[0]?.options.termDir],
      [false, termDirOf(join(former, ended))],
    );
  });
});
