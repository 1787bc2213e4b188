import { basename } from 'node:path';
import { PassThrough } from 'node:stream';
import { pause } from '../../../src/lib/clock.ts';
import type { Exit } from '../../../src/runners/launch/children.ts';
import type { Launched } from '../../../src/runners/launch/tool.ts';
import type { LaunchRequest, Launcher } from '../../../src/runners/launch/launch.ts';
import type { Guard } from '../../../src/runners/process/guard.ts';
import type { EndTreeOptions, TreeEnd } from '../../../src/runners/process/tree.ts';
import { runAs, running, theWorld } from '../world/current.ts';
import type { Host, Running } from '../world/host.ts';
import { ANSIBLE } from './ansible.ts';
import { toolOf } from './behaviours.ts';
import { SimulatedGuard } from './guard.ts';
import { PG_DUMP } from './pg-dump.ts';
import type { Program, Started } from './program.ts';
import { TERRAFORM } from './terraform/terraform.ts';

/** A tool of a job, as an outsider sees it. */
export interface Process {
  readonly jobId: string;
  readonly argv: readonly string[];
  /** Which of the programs of its job it is: each is started once. */
  readonly step: string;
  readonly pid: number;
  /** Of the daemon that started it. */
  readonly host: Host;
  /** Of that daemon. */
  readonly life: number;
  readonly startedAt: number;
  isAlive: boolean;
  /** It was asked to end. */
  isTermed: boolean;
}

/** Called when a tool starts, before it does anything. */
type OnStart = (process: Process) => void;
/** Called when it has ended by itself, or was ended and found so. */
type OnExit = (process: Process, exit: Exit) => void;

/** No process of a real machine has such a pid. */
const FIRST_PID = 5_000_000;
/** How long the guard of a dead daemon takes to end its tools, at most. */
const GUARD_MS = 15_000;
/** From SIGTERM to SIGKILL, as for real ones. */
const GRACE_MS = 10_000;

let current: Processes | null = null;

export function theProcesses(): Processes {
  if (current === null) throw new Error('there are no processes outside of a world');
  return current;
}

/** The processes of all machines. They outlive the daemons that started them. */
export class Processes {
  readonly all: Process[] = [];
  readonly #onStart: OnStart;
  readonly #onExit: OnExit;
  /** Of daemons with a lease. */
  readonly #guards = new Map<Host, SimulatedGuard>();
  #nextPid = FIRST_PID;

  private constructor(onStart: OnStart, onExit: OnExit) {
    this.#onStart = onStart;
    this.#onExit = onExit;
  }

  /** Those of the world that is open. */
  static open(onStart: OnStart, onExit: OnExit): Processes {
    current = new Processes(onStart, onExit);
    return current;
  }

  launcher(): Launcher {
    return {
      launch: (request) => this.#launch(request),
      prepare: () => null,
      supported: () => Promise.resolve({ state: 'full', detail: 'simulated' }),
    };
  }

  /** Of a daemon whose jobs may live as long as its lease. */
  guard(who: Running): Guard {
    const own = (): readonly Process[] =>
      this.all.filter((each) => each.isAlive && each.host === who.host && each.life === who.life);
    const guard = new SimulatedGuard({
      term: () => own().forEach((each) => (each.isTermed = true)),
      kill: () => own().forEach((each) => (each.isAlive = false)),
    });
    this.#guards.set(who.host, guard);
    return guard;
  }

  living(jobId: string): readonly Process[] {
    return this.all.filter((each) => each.isAlive && each.jobId === jobId);
  }

  /** SIGTERM, a grace, SIGKILL; nothing is left, unless the search is given up. */
  async endTree({ jobId, graceMs = GRACE_MS, clock, signal }: EndTreeOptions): Promise<TreeEnd> {
    const machine = running()?.host.machine;
    const living = (): readonly Process[] => this.living(jobId).filter(({ host }) => host.machine === machine);
    for (const each of living()) each.isTermed = true;
    const until = clock.monotonic() + graceMs;
    while (living().length > 0 && clock.monotonic() < until)
      if (!(await pause(clock, 50, signal))) return { left: living().map(({ pid }) => pid) };
    for (const each of living()) each.isAlive = false;
    return { left: [] };
  }

  /** The guard of a daemon that died ends its tools some time later. */
  daemonDied(host: Host): void {
    const guard = this.#guards.get(host);
    this.#guards.delete(host);
    if (guard !== undefined) return guard.daemonDied();
    const world = theWorld();
    for (const each of this.all.filter(({ isAlive, host: its }) => isAlive && its === host))
      world.later('guard', world.chance.of('guard').whole(0, GUARD_MS), () => void (each.isAlive = false));
  }

  async #launch(request: LaunchRequest): Promise<Launched> {
    const who = running();
    if (who === null) throw new Error('a tool was started outside of a daemon');
    const leader = { pid: (this.#nextPid += 1), startTicks: this.#nextPid };
    const pipe = { fd: -1, inode: 0 };
    const waiting = { isWaiting: true, giveUp: () => undefined };
    await request.beforeStart?.({ ...leader, ...waiting, output: { stdout: pipe, stderr: pipe } });
    const world = theWorld();
    const [stdout, stderr] = [new PassThrough(), new PassThrough()];
    const report = request.reports === true ? new PassThrough() : null;
    const { promise: exited, resolve } = Promise.withResolvers<Exit>();
    const launched = { ...leader, stdout, stderr, report, started: Promise.resolve(), exited, adopted: () => [] };
    // What is left of the code of a daemon that was just killed starts nothing.
    if (!world.lives(who)) return launched;
    const guard = this.#guards.get(who.host);
    if (guard?.mayStart() === false) {
      for (const output of [stdout, stderr, report]) output?.end();
      resolve({ exitCode: null, signal: 'SIGKILL' });
      return launched;
    }
    const process: Process = {
      jobId: request.env['SVC_JOB_ID'] ?? '',
      argv: request.argv,
      step: stepOf(request.argv),
      pid: leader.pid,
      ...who,
      startedAt: world.now,
      isAlive: true,
      isTermed: false,
    };
    this.all.push(process);
    world.note(`process ${process.pid} of ${process.jobId} starts on ${who.host.name}: ${shown(process.argv)}`);
    this.#onStart(process);
    guard?.started();
    const end = (exit: Exit): void => {
      process.isAlive = false;
      world.note(`process ${process.pid} of ${process.jobId} ends: ${exit.exitCode ?? exit.signal}`);
      this.#onExit(process, exit);
      toDaemon(() => {
        for (const output of [stdout, stderr, report]) output?.end();
        resolve(exit);
      });
    };
    // What arrives is handled by the daemon, if that still lives.
    const toDaemon = (deliver: () => void): void => (world.lives(who) ? runAs(who, deliver) : undefined);
    const chance = world.chance.of(`process/${shown(process.argv)}`);
    const write = (stream: PassThrough | null) => (text: string) => toDaemon(() => void stream?.write(text));
    const outputs = { print: write(stdout), warn: write(stderr), report: write(report) };
    follow({ process, cwd: request.cwd, chance, ...outputs }, end);
    return launched;
  }
}

/** What the program does, in steps of the world. It outlives its daemon, until it is ended. */
function follow(started: Started, end: (exit: Exit) => void): void {
  const { process } = started;
  const program = PROGRAMS[nameOf(process.argv)] ?? toolOf(process.argv);
  const steps = program.run(started);
  const next = (): void => {
    if (!process.isAlive) return end({ exitCode: null, signal: 'SIGKILL' });
    if (process.isTermed && !program.isDeaf) return end({ exitCode: null, signal: 'SIGTERM' });
    const { done = false, value } = steps.next();
    if (done) return end({ exitCode: value, signal: null });
    theWorld().later('tool', value, next);
  };
  next();
}

/** Those that are found by their path; any other is the tool of a command. */
const PROGRAMS: Readonly<Record<string, Program>> = {
  terraform: TERRAFORM,
  'ansible-playbook': ANSIBLE,
  pg_dump: PG_DUMP,
};

function nameOf([path = '']: readonly string[]): string {
  return basename(path);
}

/** The verb of a terraform; empty where a job has one program. */
function stepOf(argv: readonly string[]): string {
  return nameOf(argv) === 'terraform' ? (argv[1] ?? '') : '';
}

/** Where a pg_dump finds the server of this process. */
const OF_SERVER = /^--(?:dbname|snapshot)=/;

/** Without folders, which are those of the process that simulates. */
function shown(argv: readonly string[]): string {
  const words = argv.filter((word) => !OF_SERVER.test(word));
  return words.map((word) => word.replace(/\/\S*\//, '')).join(' ');
}
