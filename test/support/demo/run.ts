/** The demo, run to its end in a folder of its test. */
import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import { signalGroup } from '../../../src/lib/programs/process-group.ts';

export const ROOT = join(import.meta.dirname, '..', '..', '..');

/** What an environment changes, and where it may lie. */
export interface Place {
  /** Of the test; passable for every account, removed at its end. */
  readonly folder: string;
  /** The temporary directory of the demo, which has to be empty at the end. */
  readonly temporary: string;
  readonly home: string;
}

export interface DemoRun {
  /** Null where a signal ended it. */
  readonly code: number | null;
  /** Standard output, then standard error. */
  readonly output: string;
  /** Standard error. */
  readonly errors: string;
}

export function makePlace(t: TestContext): Place {
  // Below TMPDIR others may not pass; a sticky folder is what the daemon accepts for its runs.
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-demo-test-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  chmodSync(folder, 0o711);
  const [temporary, home] = [join(folder, 'tmp'), join(folder, 'home')];
  for (const each of [temporary, home]) mkdirSync(each);
  for (const each of [temporary, home]) chmodSync(each, 0o1777);
  return { folder, temporary, home };
}

/** The words that start the demo of a clone. */
export function demoOf(clone = ROOT): string[] {
  return [join(clone, 'node_modules', '.bin', 'node'), join(clone, 'scripts', 'demo.ts')];
}

export interface RunOptions {
  /** A variable that is undefined is unset. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Gets each line of the standard output as it comes, what presses Ctrl-C, and the process that was started. */
  readonly onLine?: (line: string, interrupt: () => void, child: ChildProcess) => void | Promise<void>;
}

/** Runs these words to their end. */
export async function runDemo(
  t: TestContext,
  { temporary, home }: Place,
  [program = '', ...args]: readonly string[],
  { env = {}, onLine = () => undefined }: RunOptions = {},
): Promise<DemoRun> {
  const child = spawn(program, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
    env: { ...ofUser(), TMPDIR: temporary, HOME: home, ...env },
  });
  const { promise: code, resolve, reject } = Promise.withResolvers<number | null>();
  child.once('close', resolve);
  child.once('error', reject);
  t.after(async () => {
    // Of a test that failed: the demo ends its daemon.
    child.kill('SIGTERM');
    await code;
  });
  const interrupt = (): void => signalGroup(child.pid, 'SIGINT');
  createInterface({ input: child.stdout }).on('line', (line) => void onLine(line, interrupt, child));
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: await code, output: stdout + stderr, errors: stderr };
}

/** The process of the daemon of a demo that runs: the child of the script that started it. */
export function daemonOf({ temporary }: Place): number {
  const pids = readdirSync('/proc').filter((entry) => /^\d+$/.test(entry));
  const script = pids.find((pid) => argumentsOf(pid).some((arg) => arg.startsWith(`${temporary}/`)));
  // After the name in brackets: the state, and the parent.
  const children = pids.filter((pid) => / \(.*\) \S (\d+) /s.exec(textOf(pid, 'stat'))?.[1] === script);
  // The other child is the same script.
  const daemon = children.find((pid) => argumentsOf(pid)[0] !== argumentsOf(script ?? '')[0]);
  if (script === undefined || daemon === undefined) throw new Error('the demo has no daemon');
  return Number(daemon);
}

function argumentsOf(pid: string): string[] {
  return textOf(pid, 'cmdline').split('\0');
}

/** Empty where the process has ended. */
function textOf(pid: string, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    return '';
  }
}

/** Nothing that the runner says to its tests reaches the demo, such as a store that another account cannot read. */
function ofUser(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('GATEHOUSE_')));
}
