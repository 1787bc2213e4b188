import type { Readable } from 'node:stream';
import { type PartialLine, STOP_GRACE_MS } from '../domain/jobs/job.ts';
import type { ProgramBounds } from './bounds/bounds.ts';
import { executeAll } from './fan-out.ts';
import { wordlessReason } from './launch/errors.ts';
import { Recorder } from './output/recorder.ts';
import { REFUSAL_HINT } from './output/refusals.ts';
import type { RecordedChunk } from './output/chunk-queue.ts';
import { release } from './output/release.ts';
import { readReport } from './output/report.ts';
import { supervise } from './process/supervise.ts';
import type { SharedMemory } from './shared-memory/shared-memory.ts';
import {
  accountOf,
  endAccountOf,
  launchRequest,
  leftOver,
  type LeaderReports,
  type Program,
  type ProgramSetup,
  registerLeader,
  type RunParts,
  stopOf,
} from './program.ts';
import { inputsDirOf, makeRunDir, placeInput, removeRunDir, runDirOf } from './run-dir.ts';
import type { ProgramEnd, ProgramOrder, Runner, RunJob, RunOutcome } from './runner.ts';

const NOTHING = Buffer.alloc(0);

/** What every run of a daemon shares. */
export interface RunSetup extends ProgramSetup {
  readonly runsDir: string;
  /** Folders beside it whose paths are not for readers of a job's output: the data directory. */
  readonly hiddenFolders?: readonly string[];
  /** What jobs of a separate account leave in shared memory; null where they run as the account of the daemon. */
  readonly sharedMemory: SharedMemory | null;
}

/** The reports of a running job, which the daemon records. */
export interface RunReports<Checkpoint> extends LeaderReports {
  /** Sequence number of the first event that the run may use. */
  readonly firstSeq: number;
  /** Output, in order. Rejects with RecorderFenced once the run has lost its job. */
  write(chunk: RecordedChunk): Promise<void>;
  /** The unfinished line, where no chunk tells it. */
  partial(partial: PartialLine | null): Promise<void>;
  /** What the run has made so far. */
  checkpoint(value: Checkpoint): Promise<void>;
}

/** A run that is over, and the last chunk of its output: the caller stores it together with the job's end. */
interface EndedRun<Result> {
  readonly outcome: RunOutcome<Result>;
  readonly lastChunk: RecordedChunk | null;
}

/** Runs one job from its directory to its last byte of output. Does not throw for what the job's programs do. */
export async function runJob<Spec, Materials, Checkpoint, Result>(
  setup: RunSetup,
  runner: Runner<Spec, Materials, Checkpoint, Result>,
  job: RunJob<Spec, Materials>,
  reports: RunReports<Checkpoint>,
  signal: AbortSignal,
): Promise<EndedRun<Result>> {
  const folders = {
    run: runDirOf(setup.runsDir, job.id, accountOf(setup, job)),
    data: [setup.runsDir, ...(setup.hiddenFolders ?? [])],
  };
  const recorder = new Recorder({
    secrets: [...job.secrets.values(), ...job.hidden],
    folders,
    clock: setup.clock,
    firstSeq: reports.firstSeq,
    write: (chunk) => reports.write(chunk),
    writePartial: (partial) => reports.partial(partial),
  });
  const deadline = setup.clock.monotonic() + job.timeoutMs;
  let runDir: string;
  try {
    runDir = makeRunDir(setup.runsDir, job.id, accountOf(setup, job));
  } catch (error) {
    recorder.system(`The directory of the run could not be created: ${reasonOf(error)}`);
    return ended({ state: 'failed', exitCode: null }, recorder);
  }
  const sharedMemory = accountOf(setup, job) === null ? null : setup.sharedMemory;
  const shared = (await sharedMemory?.begin()) ?? null;
  const program: Program = { job, runDir, clearFiles: runner.clearFiles, inputsDirs: [], shared };
  const parts: RunParts = { setup, program, recorder, reports, limits: { deadline, signal } };
  let unkept = false;
  try {
    const outcome = await runner.run(job, {
      runDir,
      searchPath: setup.path,
      clock: setup.clock,
      signal,
      placeInput(name, bytes) {
        program.inputsDirs = [inputsDirOf(runDir)];
        return placeInput(runDir, name, bytes);
      },
      say: (text, isReason = true) => recorder.system(text, isReason ? undefined : null),
      release: (output) => release(recorder, output),
      progress: (progress) => recorder.event(progress),
      redact: (text) => recorder.redact(text),
      async checkpoint(value) {
        unkept = true;
        await reports.checkpoint(value);
        unkept = false;
      },
      exec(order) {
        const own = order.asService === true ? { ...program, job: { ...job, privileged: true } } : program;
        return execute({ ...parts, program: own }, order);
      },
      execAll: (fanOut) => executeAll(parts, fanOut),
    });
    return await ended(outcome, recorder);
  } catch (error) {
    const lastChunk = await recorder.finish();
    if (lastChunk !== null) await reports.write(lastChunk);
    throw error;
  } finally {
    // It holds what could not be stored: the sweep of ended runs takes it from there first.
    if (!unkept) await removeRunDir(runDir, setup.clock);
    await shared?.end();
  }
}

/** A run that is over before it begins: its output is the reason. Nothing of it is on the disk. */
export async function refuseJob(
  setup: RunSetup,
  reports: Pick<RunReports<never>, 'firstSeq' | 'write' | 'partial'>,
  reason: string,
  state: 'failed' | 'cancelled',
): Promise<EndedRun<never>> {
  const recorder = new Recorder({
    secrets: [],
    folders: { run: '', data: [setup.runsDir, ...(setup.hiddenFolders ?? [])] },
    clock: setup.clock,
    firstSeq: reports.firstSeq,
    write: (chunk) => reports.write(chunk),
    writePartial: (partial) => reports.partial(partial),
  });
  recorder.system(reason);
  return await ended({ state, exitCode: null }, recorder);
}

/** The last line of our own says best why a run failed. */
async function ended<Result>(outcome: RunOutcome<Result>, recorder: Recorder): Promise<EndedRun<Result>> {
  const lastChunk = await recorder.finish();
  return { outcome: outcome.state === 'failed' ? { reason: recorder.note, ...outcome } : outcome, lastChunk };
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : 'unknown error';
}

async function execute(parts: RunParts, order: ProgramOrder): Promise<ProgramEnd> {
  const { setup, program, recorder } = parts;
  const { job } = program;
  let bounds: ProgramBounds | null = null;
  try {
    await setup.guard.ready();
    bounds = setup.bounds.open(job.id, accountOf(setup, job), order.sharedMemory === true ? program.shared : null);
    const end = await runProgram(parts, order, bounds);
    if (order.widens === true && !job.privileged && end.reason === 'exited' && end.exitCode !== 0)
      if (recorder.saysRefused) recorder.system(REFUSAL_HINT);
    return end;
  } catch (error) {
    // The program never started: no process, no sandbox, no such command, or the job was lost in the meantime.
    recorder.system(reasonOf(error), wordlessReason(error));
    setup.guard.unwatch(job.id);
    return { exitCode: null, reason: 'refused', stdout: NOTHING, survivors: [] };
  } finally {
    for (const line of (await bounds?.end()) ?? []) recorder.system(line);
  }
}

async function runProgram(parts: RunParts, order: ProgramOrder, bounds: ProgramBounds): Promise<ProgramEnd> {
  const { setup, program, recorder, reports, limits } = parts;
  const { job } = program;
  const launched = await setup.launcher.launch({
    ...launchRequest(parts, order, bounds),
    child: reports.takeChild(),
    reports: order.report !== undefined,
    say: (text) => recorder.system(text),
    // The child waits for this: a program of a job starts only when its tree can be found again.
    beforeStart: (leader) => registerLeader(parts, order, leader),
  });
  recorder.begin();
  bounds.watch(launched);
  const captured = order.captureBytes === undefined ? null : capture(launched.stdout, order.captureBytes);
  if (captured === null) recorder.attach(launched.stdout, 'stdout', order.sifts?.stdout);
  recorder.attach(launched.stderr, 'stderr', order.sifts?.stderr);
  if (order.report !== undefined && launched.report !== null)
    readReport(launched.report, order.report, () => recorder.system('The program reported more than is read of it.'));
  const end = await supervise(launched, {
    ...stopOf(program),
    jobId: job.id,
    timeoutMs: Math.max(0, limits.deadline - setup.clock.monotonic()),
    graceMs: STOP_GRACE_MS,
    clock: setup.clock,
    signal: order.stop === undefined ? limits.signal : AbortSignal.any([limits.signal, order.stop]),
    // A privileged job may leave its control group.
    members: job.privileged ? null : bounds.members,
    endAccount: endAccountOf(parts),
  });
  if (end.reason === 'timeout') recorder.system('The job reached its time-out and was stopped.');
  if (end.survivors.length === 0) setup.guard.unwatch(job.id);
  else recorder.system(leftOver(end.survivors));
  if (captured?.isOver === true)
    recorder.system(`The program printed more than ${order.captureBytes} bytes, the limit of a captured output.`);
  return {
    ...end,
    ...(captured?.isOver === true ? { reason: 'refused' as const } : {}),
    stdout: captured?.bytes() ?? NOTHING,
  };
}

/** Takes a stream into memory, up to a limit; then it is shut, which ends its writer. */
function capture(stream: Readable, limitBytes: number): { readonly isOver: boolean; bytes(): Buffer } {
  const parts: Buffer[] = [];
  let size = 0;
  stream.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size <= limitBytes) parts.push(chunk);
    else stream.destroy();
  });
  return {
    get isOver() {
      return size > limitBytes;
    },
    bytes: () => Buffer.concat(parts),
  };
}
