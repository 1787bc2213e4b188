import type { DataDirPaths } from '../../config/data-dir.ts';
import type { Settings } from '../../config/settings/settings.ts';
import type { JobKind, RunEnd } from '../../domain/jobs/job.ts';
import type { KindFacts } from '../../domain/jobs/kind.ts';
import type { Dependencies } from '../../domain/sources/source.ts';
import type { Keyring } from '../../lib/seal.ts';
import type { Services } from '../../operations/core/services.ts';
import type { SourceFetcher } from '../../operations/sources/services.ts';
import type { RecordedChunk } from '../../runners/output/chunk-queue.ts';
import { refuseJob, runJob, type RunSetup, type RunReports } from '../../runners/run.ts';
import type { Runner, RunOutcome } from '../../runners/runner.ts';
import type { Tx } from '../../store/engine/tx.ts';
import type { JobRow, SourceRow } from '../../store/schema/schema.ts';
import type { Store } from '../../store/store.ts';
import type { CheckedJob } from './checked-job.ts';

/** The daemon's part of a run of one kind: a runner knows neither the store nor the seal. */
export interface RunSupport<Spec, Materials, Checkpoint, Result> {
  /**
   * Collects the inputs of a claimed job. Throws Failure, with a message for the job's output, where the run must not
   * start. `signal` ends long work.
   */
  prepare(
    deps: RunDeps,
    job: CheckedJob,
    spec: Spec,
    signal: AbortSignal,
  ): Promise<PreparedRun<Materials, Checkpoint, Result>>;
  /**
   * Reads the results of an unfinished run from its directory; null where there is nothing to write. Its processes have
   * ended before.
   */
  recover?(deps: RunDeps, job: CheckedJob): Promise<WriteResult | null>;
  /** Writes what an interrupted job leaves, in the transaction of its end. */
  interrupted?(tx: Tx, job: JobRow): Promise<void>;
  /** See `dependenciesOf`. */
  readonly dependencies?: FindDependencies;
  /** Its result may be refused by a Failure; its run has done nothing else, so that the job fails for this reason. */
  readonly mayBeRefused?: true;
}

/** In memory only: nothing of it is written before the run has its directory. */
interface PreparedRun<Materials, Checkpoint, Result> {
  readonly secrets: ReadonlyMap<string, Buffer>;
  /** Further values that the output must not show. */
  readonly hidden: readonly Buffer[];
  readonly materials: Materials;
  /** Stores what the run has made so far, also where the run has lost its job; `owned` is false then. */
  checkpoint(tx: Tx, value: Checkpoint): Promise<{ owned: boolean }>;
  /** Prepares what the end of the run writes: long work is done here, because the transaction blocks every writer. */
  finish(outcome: RunOutcome<Result>): Promise<WriteResult>;
}

/** What runs have in common: a kind that needs more, such as a folder or an option, makes it of the settings. */
export interface RunDeps extends Pick<RunSetup, 'clock' | 'runsDir' | 'account'> {
  readonly store: Store;
  readonly keyring: () => Promise<Keyring>;
  readonly sources: Pick<SourceFetcher, 'treeOf' | 'fetch'>;
  readonly settings: Settings;
  /** With the places that settings name. */
  readonly paths: DataDirPaths;
  readonly kinds: RunKinds;
  /** What operations ask of this process. */
  readonly services: Services;
}

/** What a run writes, in the transaction of the job's own move. */
export type WriteResult = (tx: Tx) => Promise<void>;

export const NO_RESULT: WriteResult = () => Promise.resolve();

/** For a run that needs nothing and stores nothing. */
export const NOTHING_PREPARED: PreparedRun<null, never, never> = {
  secrets: new Map(),
  hidden: [],
  materials: null,
  checkpoint: () => Promise.resolve({ owned: true }),
  finish: () => Promise.resolve(NO_RESULT),
};

/** Runs a prepared job to its end. `finish` is called after that, and may fail. */
export type ReadyRun = (
  setup: RunSetup,
  reports: RunReports<(tx: Tx) => Promise<{ owned: boolean }>>,
  signal: AbortSignal,
) => Promise<{ readonly end: RunEnd; readonly lastChunk: RecordedChunk | null; finish(): Promise<WriteResult> }>;

/** A kind without its type parameters, for code that is common to all kinds. */
export interface RunKind {
  prepare(deps: RunDeps, job: CheckedJob, signal: AbortSignal): Promise<ReadyRun>;
  recover(deps: RunDeps, job: CheckedJob): Promise<WriteResult | null>;
  interrupted(tx: Tx, job: JobRow): Promise<void>;
  readonly dependencies?: FindDependencies | undefined;
  readonly mayBeRefused?: boolean;
}

/** How the daemon runs each kind, see RUN_SUPPORT. */
export type RunKinds = Readonly<Record<JobKind, RunKind>>;

export function runKind<Spec, Materials, Checkpoint, Result>(
  facts: KindFacts<Spec>,
  runner: Runner<Spec, Materials, Checkpoint, Result>,
  support: RunSupport<Spec, Materials, Checkpoint, Result>,
): RunKind {
  return {
    async prepare(deps, job, signal) {
      const spec = facts.readSpec(job.spec);
      return readyRun(job, spec, runner, await support.prepare(deps, job, spec, signal));
    },
    recover: (deps, job) => support.recover?.(deps, job) ?? Promise.resolve(null),
    interrupted: (tx, job) => support.interrupted?.(tx, job) ?? Promise.resolve(),
    dependencies: support.dependencies,
    mayBeRefused: support.mayBeRefused === true,
  };
}

type FindDependencies = (
  deps: RunDeps,
  job: Pick<JobRow, 'pinned' | 'created_at'>,
  source: SourceRow,
) => Promise<Dependencies | null>;

/** What jobs of any kind fetched for a source, for the run of a job. Throws Failure where it must not be used. */
export const dependenciesOf: FindDependencies = async (deps, job, source) => {
  for (const { dependencies } of Object.values(deps.kinds)) {
    const found = await dependencies?.(deps, job, source);
    if (found !== undefined && found !== null) return found;
  }
  return null;
};

/** A run that only writes the reason to its output. It has no directory. */
export function refusedRun(reason: string, state: 'failed' | 'cancelled'): ReadyRun {
  return async (setup, reports) => {
    const { outcome, lastChunk } = await refuseJob(setup, reports, reason, state);
    return { end: outcome, lastChunk, finish: () => Promise.resolve(NO_RESULT) };
  };
}

function readyRun<Spec, Materials, Checkpoint, Result>(
  row: CheckedJob,
  spec: Spec,
  runner: Runner<Spec, Materials, Checkpoint, Result>,
  prepared: PreparedRun<Materials, Checkpoint, Result>,
): ReadyRun {
  const { id, kind, timeout_ms: timeoutMs } = row;
  const { secrets, hidden, materials } = prepared;
  const job = { id, kind, spec, privileged: row.privileged === 1, timeoutMs, secrets, hidden, materials };
  return async (setup, reports, signal) => {
    const checkpoint = (value: Checkpoint): Promise<void> => reports.checkpoint((tx) => prepared.checkpoint(tx, value));
    const { outcome, lastChunk } = await runJob(setup, runner, job, { ...reports, checkpoint }, signal);
    return { end: outcome, lastChunk, finish: () => prepared.finish(outcome) };
  };
}
