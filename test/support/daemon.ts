/**
 * The real daemon as a child process, for stories: killed, stopped and started again as an operator or a power cut
 * would. A fixture is a data directory (and a PostgreSQL database) with its daemons; whatever was started is ended when
 * the test ends, also when it fails.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { listProcesses, type ProcessEntry, processEntry } from '../../src/runners/process/process-table.ts';
import { createApi, type Api, until } from './api-client.ts';
import { patient } from './measure/slowness.ts';

const ROOT = join(import.meta.dirname, '..', '..');
/** `npm test` names the bundle here: it starts with half of the processor time that the sources take. */
const MAIN = process.env['GATEHOUSE_MAIN'] ?? join(ROOT, 'src', 'main.ts');
/** A machine that is busy with other tests needs a while; one that needs longer than this has a fault. */
const READY_LIMIT_MS = 90_000;
/** The grace of a job's processes is 10 s, SIGKILL 5 s more, open requests 5 s each for two listeners. */
const STOP_LIMIT_MS = 30_000;
/** A guard gives the trees of a dead daemon 10 s, and 5 s more. */
const HELPERS_LIMIT_MS = 30_000;

export interface DaemonFlags {
  readonly dataDir: string;
  readonly databaseUrl?: string | null;
  readonly sealKeyFile?: string;
  /** More flags of `serve`. */
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Arguments for node itself, before the program. */
  readonly nodeArgs?: readonly string[];
  /** The program in place of the checkout's own, such as a damaged copy of it. */
  readonly program?: string;
  /** The `bin/svc` of another build, in place of node and `program`. It may be older than the flag `--runs-dir`. */
  readonly otherBuild?: string;
  /** Words before node, such as `prlimit --nofile=64`. */
  readonly wrapper?: readonly string[];
}

export interface Ready {
  readonly web_url: string;
  readonly ingress_url: string;
  readonly data_dir: string;
  readonly pid: number;
  readonly version: string;
  readonly status_url?: string;
}

/** How a program that did not become ready ended. */
export interface Refusal {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export class NotReady extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(`the daemon ended with ${refusal.exitCode} before it was ready: ${refusal.stdout}${refusal.stderr}`);
    this.refusal = refusal;
  }
}

export interface RunningDaemon {
  readonly ready: Ready;
  readonly pid: number;
  /** Milliseconds since the epoch when the ready line was read. */
  readonly readyAtMs: number;
  /** From the spawn to the ready line: what the machine makes of a second now. */
  readonly startMs: number;
  api(token: string): Api;
  /** All that it wrote to standard error so far. */
  log(): string;
  /** SIGKILL; resolves when it is gone. May be called twice. */
  kill(): Promise<void>;
  /** SIGTERM; resolves with the exit code. */
  stop(): Promise<number | null>;
  /** SIGSTOP and SIGCONT. */
  freeze(): void;
  thaw(): void;
  readonly exited: Promise<number | null>;
}

/** Beside the data directory, so that nothing of a test is left in the place of an installed daemon. */
export function runsDirFor(dataDir: string): string {
  return `${dataDir}-runs`;
}

interface Started {
  readonly spawnedAtMs: number;
  readonly child: ChildProcess;
  readonly output: { stdout: string; stderr: string };
  readonly exited: Promise<number | null>;
}

function commandLine(flags: DaemonFlags): string[] {
  return [
    ...(flags.wrapper ?? []),
    ...(flags.otherBuild === undefined ? checkout(flags) : [flags.otherBuild]),
    'serve',
    '--output',
    'json',
    '--data-dir',
    flags.dataDir,
    ...(flags.sealKeyFile === undefined ? [] : ['--seal-key-file', flags.sealKeyFile]),
    // Later flags win, so that a story can name its own addresses.
    ...withDefault(flags.args ?? [], '--web-addr', '127.0.0.1:0'),
    ...withDefault(flags.args ?? [], '--ingress-addr', '127.0.0.1:0'),
    ...(flags.otherBuild === undefined ? withDefault(flags.args ?? [], '--runs-dir', runsDirFor(flags.dataDir)) : []),
    ...(flags.args ?? []),
  ];
}

function checkout({ nodeArgs = [], program = MAIN }: DaemonFlags): string[] {
  return [process.execPath, '--disable-warning=ExperimentalWarning', ...nodeArgs, program];
}

function withDefault(args: readonly string[], flag: string, value: string): string[] {
  return args.includes(flag) ? [] : [flag, value];
}

/** No setting of the user who runs the tests reaches the daemon. */
function environment(extra: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  return { ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('SVC_'))), ...extra };
}

function launch(flags: DaemonFlags): Started {
  const [program = '', ...args] = commandLine(flags);
  const spawnedAtMs = performance.now();
  const child = spawn(program, args, {
    cwd: '/',
    env: environment({ ...(flags.databaseUrl ? { SVC_DATABASE_URL: flags.databaseUrl } : {}), ...flags.env }),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => (output.stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output.stderr += chunk.toString()));
  const exited = new Promise<number | null>((resolve) => {
    child.once('error', () => resolve(null));
    child.once('close', (code) => resolve(code));
  });
  return { spawnedAtMs, child, output, exited };
}

/** Handles of a daemon from its spawn on: before it is ready, only `kill` and `ready` make sense. */
export interface StartingDaemon {
  readonly ready: Promise<RunningDaemon>;
  /** Of the process; 0 when it could not even be started. */
  readonly pid: number;
  kill(): Promise<void>;
  signal(signal: NodeJS.Signals): void;
  readonly exited: Promise<number | null>;
  /**
   * Resolves when nothing is left of the helpers of a daemon that was killed: until then its guard writes into its data
   * directory.
   */
  helpersEnded(): Promise<void>;
}

/** Spawns it and does not wait. `ready` rejects with NotReady when it ends first. */
export function spawnDaemon(flags: DaemonFlags): StartingDaemon {
  const started = launch(flags);
  const pid = started.child.pid ?? 0;
  const helpers: ProcessEntry[] = [];
  const kill = async (): Promise<void> => {
    const { child } = started;
    // Once it is dead its pid, and with it what has that for a parent, may be somebody else's.
    if (child.exitCode === null && child.signalCode === null) {
      helpers.push(...(await childrenOf(pid)));
      child.kill('SIGKILL');
    }
    await started.exited;
  };
  const ready = becomeReady(started, kill);
  ready.catch(() => {});
  const helpersEnded = (): Promise<void> => endOf(helpers);
  return {
    ready,
    pid,
    kill,
    signal: (signal) => void started.child.kill(signal),
    exited: started.exited,
    helpersEnded,
  };
}

async function childrenOf(pid: number): Promise<ProcessEntry[]> {
  return pid === 0 ? [] : (await listProcesses()).filter((entry) => entry.parent === pid);
}

async function endOf(processes: readonly ProcessEntry[]): Promise<void> {
  await until('the helpers of the daemon have ended', () => !processes.some(isAlive), HELPERS_LIMIT_MS);
}

function isAlive({ pid, startTicks }: ProcessEntry): boolean {
  return processEntry(pid)?.startTicks === startTicks;
}

export function startDaemon(flags: DaemonFlags): Promise<RunningDaemon> {
  return spawnDaemon(flags).ready;
}

/** Starts a daemon that must not become ready, and tells how it ended. */
export async function startRefused(flags: DaemonFlags): Promise<Refusal> {
  try {
    const daemon = await startDaemon(flags);
    await daemon.kill();
  } catch (error) {
    if (error instanceof NotReady) return error.refusal;
    throw error;
  }
  throw new Error('the daemon became ready, and was to refuse');
}

async function becomeReady(started: Started, kill: () => Promise<void>): Promise<RunningDaemon> {
  const { child, output, exited } = started;
  const timeout = setTimeout(() => child.kill('SIGKILL'), patient(READY_LIMIT_MS));
  const lines = createInterface({ input: child.stdout ?? process.stdin });
  const line = await Promise.race([once(lines, 'line').then(([text]) => String(text)), exited.then(() => null)]);
  clearTimeout(timeout);
  const answer = line === null ? null : (JSON.parse(line) as { kind: string; data?: Ready });
  if (answer?.kind !== 'serve.ready' || answer.data === undefined) {
    throw new NotReady({ exitCode: await exited, stdout: output.stdout, stderr: output.stderr });
  }
  const ready = answer.data;
  return {
    ready,
    pid: ready.pid,
    readyAtMs: Date.now(),
    startMs: performance.now() - started.spawnedAtMs,
    api: (token) => createApi(ready.web_url, token),
    log: () => output.stderr,
    kill,
    stop: () => stop(started),
    freeze: () => void process.kill(ready.pid, 'SIGSTOP'),
    thaw: () => void process.kill(ready.pid, 'SIGCONT'),
    exited,
  };
}

async function stop({ child, output, exited }: Started): Promise<number | null> {
  child.kill('SIGTERM');
  const timeout = setTimeout(() => child.kill('SIGKILL'), patient(STOP_LIMIT_MS));
  const code = await exited;
  clearTimeout(timeout);
  if (code === null) throw new Error(`the daemon did not stop in time: ${output.stderr}`);
  return code;
}
