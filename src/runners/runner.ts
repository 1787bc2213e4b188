import type { JobKind, JobProgress, RunEnd } from '../domain/jobs/job.ts';
import type { PathPart } from '../domain/path-part.ts';
import type { Clock } from '../lib/clock.ts';
import type { SandboxPolicy, Unfiltered } from './sandbox/policy.ts';

/** The job as a run sees it. A run never sees the store. */
export interface RunJob<Spec, Materials> {
  readonly id: PathPart;
  readonly kind: JobKind;
  readonly spec: Spec;
  readonly privileged: boolean;
  readonly timeoutMs: number;
  /** Variable to value. Whatever equals one is kept out of the recorded output. */
  readonly secrets: ReadonlyMap<string, Buffer>;
  /** Values that the run is not given and that may come up all the same: from a state, or from a plan. */
  readonly hidden: readonly Buffer[];
  /** The files and values that the kind works on. */
  readonly materials: Materials;
}

/** One program to start for a job. */
export interface ProgramOrder {
  /** The program and its arguments; no shell reads them. */
  readonly argv: readonly string[];
  /** Paths that the program may read beside the system's. */
  readonly readable?: readonly string[];
  /** Directories outside the run that the order of the job lets it write; checked when the program starts. */
  readonly writable?: readonly string[];
  readonly connectPorts: SandboxPolicy['connectPorts'];
  /** What it gets where the kernel cannot limit it to these ports, see SandboxPolicy; it is refused by default. */
  readonly unfiltered?: Unfiltered;
  /** Whether the program may make unix sockets, see SandboxPolicy; no by default. */
  readonly unixSockets?: boolean;
  /** Named sockets that it may connect to, see SandboxPolicy. */
  readonly sockets?: readonly string[];
  /** Whether it may use semaphores and shared memory, see SandboxPolicy; no by default. */
  readonly sharedMemory?: boolean;
  /**
   * Runs as the daemon and outside of the sandbox: for a program of the service itself, whose words no user of the
   * service chose.
   */
  readonly asService?: true;
  readonly environment?: Readonly<Record<string, string>>;
  /** Where it works, below the run directory; the run directory itself by default. */
  readonly folder?: string;
  /** Take out of the output what must not be recorded. */
  readonly sifts?: { readonly stdout: OutputSift; readonly stderr?: OutputSift };
  /** Standard output is handed over, up to this many bytes, in place of being recorded. More ends as `refused`. */
  readonly captureBytes?: number;
  /** What the program writes to REPORT_FD, a pipe that it has for this alone. */
  readonly report?: ReportOrder;
  /** Names of files in clear besides those of the runner. */
  readonly clearFiles?: readonly string[];
  /** Its job has options that widen the sandbox: a line names them where the sandbox may have refused something. */
  readonly widens?: true;
  /** Aborted to stop this program before its end, as `cancelled`. */
  readonly stop?: AbortSignal;
}

/** What a program reports besides its output, in lines. */
export interface ReportOrder {
  /** More is not read: the pipe is closed, and the program continues without it. */
  readonly bytesMax: number;
  /** One whole line, without its end. Must not throw. */
  readonly onLine: (line: string) => void;
}

/** Sees what a program prints before anybody else, and answers what of it may be recorded. */
export interface OutputSift {
  /** The memory of `chunk` is taken back afterwards. */
  push(chunk: Buffer): Buffer;
  /** While true, no unfinished line of the run is shown: it may be what is held. */
  readonly isHolding?: boolean;
  /** What was held back and may be recorded after all. */
  end(): Buffer;
}

export interface ProgramEnd {
  /** The program's own; 128 + the signal when a signal ended it; null when it never started. */
  readonly exitCode: number | null;
  readonly reason: 'exited' | 'timeout' | 'cancelled' | 'refused';
  /** What was captured. */
  readonly stdout: Buffer;
  /** Pids of its tree that not even SIGKILL ended. */
  readonly survivors: readonly number[];
}

/** A program for each of many items, such as hosts. */
export interface FanOut<T> {
  readonly items: readonly T[];
  /** Programs that run at a time. */
  readonly atATime: number;
  readonly order: (item: T) => ProgramOrder;
  /** Called when the program and its output have ended. It is not called for items that were not begun. */
  readonly ended: (item: T, end: { readonly exitCode: number | null; readonly wasStopped: boolean }) => Promise<void>;
}

export interface FanOutEnd {
  /** `refused`: one could not be started, and the output says why. */
  readonly reason: ProgramEnd['reason'];
  /** Pids that not even SIGKILL ended. */
  readonly survivors: readonly number[];
}

/** What a runner works with. */
export interface RunTools<Checkpoint> {
  /** The run's own directory: working directory, HOME and TMPDIR of its programs. */
  readonly runDir: string;
  /** Folders in which programs are looked for, as PATH has them. */
  readonly searchPath: string;
  readonly clock: Clock;
  /** Aborted to stop the run: what takes long between two programs rejects with its reason. */
  readonly signal: AbortSignal;
  /** Runs a program to its end, in the sandbox unless the job is privileged; its output becomes events of the job. */
  exec(order: ProgramOrder): Promise<ProgramEnd>;
  /** Runs a program for each item, several at a time. It rejects with what `ended` rejects with. */
  execAll<T>(fanOut: FanOut<T>): Promise<FanOutEnd>;
  /** Puts a file where programs of the run can read it and can't change it; answers its path. */
  placeInput(name: string, bytes: Uint8Array): Promise<string>;
  /** Adds a line of our own to the job's output. With `isReason` false, it is not the reason of the run's end. */
  say(text: string, isReason?: boolean): void;
  /** Adds output of a program that was held back, in order with what is said before and after. */
  release(output: AsyncIterable<Buffer>): Promise<void>;
  /** Says what the job is at. It becomes an event, and the job's `progress`. */
  progress(progress: JobProgress): void;
  /** Replaces what the output must not show, for texts that are stored elsewhere. */
  redact(text: string): string;
  /** Stores what the run has made so far. When this rejects, the run directory stays for the recovery of the kind. */
  checkpoint(value: Checkpoint): Promise<void>;
}

/** A kind of job: turns the spec into programs, and their ends into an outcome. */
export interface Runner<Spec, Materials, Checkpoint, Result> {
  /** Names of files in clear in the run directory or its inputs: removed also when the daemon dies during the run. */
  readonly clearFiles: readonly string[];
  run(job: RunJob<Spec, Materials>, tools: RunTools<Checkpoint>): Promise<RunOutcome<Result>>;
}

/** What the end of a run reports. `result` is what the kind stores; absent where the run ended before it had one. */
export interface RunOutcome<Result> extends RunEnd {
  readonly result?: Result;
}

/** The end of a run that is decided by its last program alone. */
export function outcomeOf(end: ProgramEnd): RunEnd {
  if (end.reason === 'cancelled') return { state: 'cancelled', exitCode: end.exitCode };
  const succeeded = end.reason === 'exited' && end.exitCode === 0;
  return { state: succeeded ? 'succeeded' : 'failed', exitCode: end.exitCode };
}

/** A program that a run cannot go on without did not succeed: its end is that of the run. */
class ProgramFailed extends Error {
  readonly end: ProgramEnd;

  constructor(end: ProgramEnd) {
    super('a program ended the run');
    this.end = end;
  }
}

/** The end of a program that must succeed for the run to go on; else throws what `outcomeOfError` reads. */
export function requireSuccess(end: ProgramEnd): ProgramEnd {
  if (end.reason !== 'exited' || end.exitCode !== 0) throw new ProgramFailed(end);
  // A surviving process could change the result of this step before the next step reads it.
  if (end.survivors.length > 0) throw new Error('A process of this step could not be ended. Nothing more was run.');
  return end;
}

/** The end of a run that threw this. The message of an error is a sentence for the output of the job. */
export function outcomeOfError(error: unknown, { signal, say }: Pick<RunTools<never>, 'signal' | 'say'>): RunEnd {
  if (error instanceof ProgramFailed) return outcomeOf(error.end);
  if (signal.aborted && error === signal.reason) return { state: 'cancelled', exitCode: null };
  say(error instanceof Error ? error.message : 'The run failed for an unknown reason.');
  return { state: 'failed', exitCode: null };
}
