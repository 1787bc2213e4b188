/** Runs a lane: its files one after another in one process, which a test that hangs does not take with it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, relative, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { signalGroup } from '../../src/lib/programs/process-group.ts';
import { FILES_VARIABLE } from './lane-files.ts';
import { MachineTime } from '../../test/support/measure/slowness.ts';
import type { Happened } from './reporter.ts';
import type { Lane } from './suites.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const REPORTER = join(import.meta.dirname, 'reporter.ts');
const ENTRY = join(import.meta.dirname, 'lane-entry.ts');

/** How often it is looked for a test that hangs, and for the end of the run. */
const LOOK_MS = 1_000;
/** After its exit, for its last messages: a program that a test left behind may hold its output open much longer. */
const REST_MS = 1_000;
/** As much of the last output of a process as explains why it broke off. */
const OUTPUT_TAIL_CHARS = 16_000;

export interface Test {
  /** From the root. */
  readonly file: string;
  readonly line: number;
  /** With the titles of the suites around it. */
  readonly title: string;
}

export interface Ended extends Test {
  readonly happened: Happened;
}

export interface LaneOptions {
  readonly node: string;
  readonly nodeArgs: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** Milliseconds of a quick machine. */
  readonly testLimitMs: number;
  readonly signal: AbortSignal;
  readonly onEnd: (ended: Ended) => void;
  /** Something that failed without the end of a test: it hangs, or its process ended. */
  readonly onBroken: (broken: Test, why: string) => void;
}

/** What runs of a lane now: the innermost test, or a file of which none has begun. */
export interface Running {
  readonly lane: Lane;
  current(): Test;
}

/** Runs it. A file in which a test hangs or the process ends counts as failed; a new process runs the next files. */
export async function runLane(lane: Lane, options: LaneOptions, onStart: (running: Running) => void): Promise<void> {
  let left = lane.files;
  while (left.length > 0 && !options.signal.aborted) {
    const attempt = new Attempt(left, options);
    onStart({ lane, current: () => attempt.current() });
    left = left.slice(await attempt.run());
  }
}

interface Begun extends Test {
  readonly id: number;
  readonly parent: number;
  readonly time: MachineTime;
}

/** One process over the files that are left. */
class Attempt {
  readonly #files: readonly string[];
  readonly #options: LaneOptions;
  readonly #begun = new Map<number, Begun>();
  #last: Test;
  /** Since the last message. */
  #silence = new MachineTime();
  /** The place among the files of the last one that a test was seen of; a helper's tests are in the helper's file. */
  #lastFile = -1;
  #hasEnded = false;
  #output = '';
  #failures = 0;

  constructor(files: readonly string[], options: LaneOptions) {
    this.#files = files;
    this.#options = options;
    this.#last = { file: files[0] ?? '', line: 1, title: 'the load of the files' };
  }

  current(): Test {
    return [...this.#begun.values()].at(-1) ?? this.#last;
  }

  /** How many files need no further attempt: all, or those up to the one that broke off. */
  async run(): Promise<number> {
    const { signal } = this.#options;
    const child = this.#start();
    const hung = Promise.withResolvers<Test>();
    const look = setInterval(() => {
      const late = this.#late() ?? this.#silent();
      if (late !== null) hung.resolve(late);
    }, LOOK_MS);
    const stopped = once(signal, 'abort').then(() => null);
    const exited = exitOf(child);
    try {
      const first = signal.aborted ? null : await Promise.race([exited, hung.promise, stopped]);
      if (first === null) return this.#files.length;
      if (typeof first === 'string') return this.#judge(first);
      this.#tellHung(first);
      return this.#filesUntil(first);
    } finally {
      clearInterval(look);
      signalGroup(child.pid, 'SIGKILL');
      await exited;
      child.stdout?.destroy();
      child.stderr?.destroy();
    }
  }

  /** Also a file whose process ended before its first test is not tried again. */
  #filesUntil({ file }: Test): number {
    const known = this.#files.indexOf(file);
    return Math.max(1, (known < 0 ? this.#lastFile : known) + 1);
  }

  #start(): ChildProcess {
    const { node, nodeArgs, env } = this.#options;
    const args = [
      '--disable-warning=ExperimentalWarning',
      '--expose-gc',
      '--test',
      '--test-isolation=none',
      `--test-reporter=${REPORTER}`,
      ...nodeArgs,
      ENTRY,
    ];
    const files = JSON.stringify(this.#files.map((file) => resolve(ROOT, file)));
    // The leader of a new process group, so that an end reaches what its tests have left.
    const child = spawn(node, args, {
      cwd: ROOT,
      env: { ...env, [FILES_VARIABLE]: files },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      detached: true,
    });
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (chunk: Buffer) => {
        this.#output = (this.#output + chunk.toString()).slice(-OUTPUT_TAIL_CHARS);
      });
    child.on('message', (message) => this.#hear(message as Happened));
    child.once('error', (error) => (this.#output += error.message));
    return child;
  }

  #hear(happened: Happened): void {
    this.#silence = new MachineTime();
    if (happened.type === 'end') {
      this.#hasEnded = true;
      return;
    }
    const test = this.#testOf(happened);
    this.#last = test;
    this.#lastFile = Math.max(this.#lastFile, this.#files.indexOf(test.file));
    if (happened.type === 'dequeue') {
      this.#begun.set(happened.id, { ...test, id: happened.id, parent: happened.parent, time: new MachineTime() });
      return;
    }
    // Node takes a file without a test for one.
    if (happened.type === 'pass' && test.file === relative(ROOT, ENTRY)) return;
    if (happened.type === 'fail') this.#failures += 1;
    this.#begun.delete(happened.id);
    // A suite is not late because of its tests.
    const outer = this.#begun.get(happened.parent);
    if (outer !== undefined) this.#begun.set(outer.id, { ...outer, time: new MachineTime() });
    this.#options.onEnd({ ...test, happened });
  }

  #testOf({ name, file, line, parent }: Happened): Test {
    const outer = this.#begun.get(parent);
    const title = outer === undefined ? name : `${outer.title} > ${name}`;
    const path = file.startsWith('file:') ? fileURLToPath(file) : file;
    return { file: relative(ROOT, path), line, title };
  }

  /** The innermost test that takes too long. A suite takes as long as all its tests. */
  #late(): Test | null {
    const outer = new Set(Array.from(this.#begun.values(), ({ parent }) => parent));
    const inner = [...this.#begun.values()].filter(({ id }) => !outer.has(id));
    return inner.find(({ time }) => time.passed() > this.#options.testLimitMs) ?? null;
  }

  /** The last test, where none runs and the process does not end: what it has left open holds it. */
  #silent(): Test | null {
    return this.#begun.size === 0 && this.#silence.passed() > this.#options.testLimitMs ? this.#last : null;
  }

  /** What a failed test has left open needs no second failure. */
  #tellHung(test: Test): void {
    if (this.#begun.size === 0 && this.#failures > 0) return;
    const what = this.#begun.size > 0 ? 'did not end' : 'was the last, and its process did not end';
    this.#options.onBroken(test, `${what} within ${this.#options.testLimitMs / 1000} s of a quick machine`);
  }

  /** Node exits with 1 after a failed test. Anything else that is no success was no end of its tests. */
  #judge(code: string): number {
    const isDone = this.#hasEnded && this.#begun.size === 0 && (code === '0' || (code === '1' && this.#failures > 0));
    if (isDone) return this.#files.length;
    const current = this.current();
    this.#options.onBroken(current, `its process ended with ${code}.\n${this.#output}`);
    return this.#filesUntil(current);
  }
}

/** The exit code or signal of a process, once its last messages are here. */
async function exitOf(child: ChildProcess): Promise<string> {
  const closed = once(child, 'close');
  const [code, signal] = (await once(child, 'exit').catch(() => [null, null])) as [number | null, string | null];
  await Promise.race([closed, pause(REST_MS, null, { ref: false })]);
  return String(signal ?? code);
}
