/** A daemon that restarts in place, step by step, on a store; the program itself is made up. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { runningProgram } from '../../../src/config/program/digest.ts';
import { claim, endJob } from '../../../src/daemon/jobs/job-transitions.ts';
import { restartLoop, type RestartLoopDeps, RunningDigest } from '../../../src/daemon/maintenance/restart.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { fenceOf } from '../../../src/store/jobs/claims.ts';
import { getJob } from '../../../src/store/jobs/jobs.ts';
import { isNodeCordoned } from '../../../src/store/maintenance/cordon.ts';
import { recordDigest, requestRestart, restartOf, settleRestart } from '../../../src/store/maintenance/restarts.ts';
import type { RestartRow } from '../../../src/store/schema/schema.ts';
import { HERE, openTestStore } from '../store/job-store.ts';

export const NODE = 'web1';
export const DRAIN_MS = 900_000;

export interface Scene {
  /** What happens at the next call of that step, before it answers. */
  readonly at: { digest: () => Promise<void>; trial: () => Promise<void> };
  /** What the program on disk is, and what is wrong with it. */
  readonly disk: { digest: string; words: string | null };
  readonly executed: () => number;
  request(force?: boolean): Promise<void>;
  step(): Promise<void>;
  /** Claims a queued job as this daemon would; null while it may not. */
  start(): Promise<string | null>;
  end(jobId: string): Promise<void>;
  isCancelRequested(jobId: string): Promise<boolean>;
  reasonOf(jobId: string): Promise<string | null>;
  row(): Promise<RestartRow>;
  isCordoned(): Promise<boolean>;
  /** The next daemon of this name starts: as the new program, or because somebody has started it. */
  startAgain(follows?: boolean): Promise<void>;
  pass(ms: number): void;
  write: Awaited<ReturnType<typeof openTestStore>>['store']['write'];
}

const nothing = (): Promise<void> => Promise.resolve();
export async function scene(t: TestContext): Promise<Scene> {
  const on = await openTestStore();
  t.after(() => on.close());
  const { store } = on;
  const at = { digest: nothing, trial: nothing };
  const disk = { digest: 'new', words: null as string | null };
  let [executed, later, self] = [0, 0, await on.daemon(HERE, NODE)];
  const program = runningProgram();
  const settle = (follows: boolean): Promise<void> =>
    store.write((tx) => settleRestart(tx, { node: NODE, daemonId: self, program, follows }));
  await settle(false);
  await store.write((tx) => recordDigest(tx, self, 'old'));
  const deps: RestartLoopDeps = {
    store,
    clock: { ...systemClock, now: () => systemClock.now() + later, after: (_ms, call) => systemClock.after(0, call) },
    self: () => self,
    node: () => NODE,
    wakeUp: () => undefined,
    running: new RunningDigest(),
    readSettings: () => Promise.reject(new Error('nothing is read again')),
    restarting: {
      program,
      follows: false,
      drainMs: DRAIN_MS,
      async digest() {
        await at.digest();
        return disk.digest;
      },
      async tryProgram() {
        await at.trial();
        return disk.words;
      },
      execute: () => (executed += 1),
    },
  };
  const row = async (): Promise<RestartRow> => (await restartOf(store.db, NODE)) ?? assert.fail('there is no row');
  return {
    at,
    disk,
    row,
    executed: () => executed,
    write: (work) => store.write(work),
    request: async (force = false) => void (await store.write((tx) => requestRestart(tx, NODE, force))),
    step: async () => void (await restartLoop(deps).once(new AbortController().signal)),
    async start() {
      await on.job();
      const claimed = await store.write((tx) => claim(tx, { id: self, node: NODE }, 1));
      return claimed[0]?.row.id ?? null;
    },
    async end(jobId) {
      const fence = fenceOf(await getJob(store.db, jobId));
      await store.write((tx) => endJob(tx, fence, { state: 'succeeded', exitCode: 0 }, 'run'));
    },
    isCancelRequested: async (jobId) => (await getJob(store.db, jobId)).cancel_requested_at !== null,
    reasonOf: async (jobId) => (await getJob(store.db, jobId)).reason,
    isCordoned: () => isNodeCordoned(store.db, NODE),
    async startAgain(follows = true) {
      self = await on.daemon(HERE, NODE);
      await settle(follows);
    },
    pass: (ms) => (later += ms),
  };
}
