/** The demo, run to its end in a folder of its test. */
import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';

const ROOT = join(import.meta.dirname, '..', '..', '..');

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

/** Runs these words to their end; a variable that is undefined is unset. */
export async function runDemo(
  t: TestContext,
  { temporary, home }: Place,
  [program = '', ...args]: readonly string[],
  env: Readonly<Record<string, string | undefined>> = {},
): Promise<DemoRun> {
  const child = spawn(program, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
    env: { ...process.env, TMPDIR: temporary, HOME: home, ...env },
  });
  t.after(() => child.kill('SIGKILL'));
  const { promise: code, resolve, reject } = Promise.withResolvers<number | null>();
  child.once('close', resolve);
  child.once('error', reject);
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: await code, output: stdout + stderr };
}
