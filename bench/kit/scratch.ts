/** Directories and processes of a run. Whatever is left of them when the bench ends, however it ends, is removed. */
import { type ChildProcess, spawn, type SpawnOptions } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** How long a process may take to end after it was asked to. The daemon itself gives its jobs 10 s. */
const END_WITHIN_MS = 20_000;

const directories = new Set<string>();
const children = new Set<ChildProcess>();

export function tempDir(name: string): string {
  const path = mkdtempSync(join(tmpdir(), `gatehouse-bench-${name}-`));
  directories.add(path);
  return path;
}

/**
 * A folder for a data directory and its run directories: jobs of a daemon that is root pass through it, as another
 * account.
 */
export function passableTempDir(name: string): string {
  const path = tempDir(name);
  chmodSync(path, 0o711);
  return path;
}

/** Beside the data directory, so that nothing of a bench is left in the place of an installed daemon. */
export function runsDirFor(dataDir: string): string {
  return `${dataDir}-runs`;
}

export function removeDir(path: string): void {
  for (const each of [path, runsDirFor(path)]) rmSync(each, { recursive: true, force: true });
  directories.delete(path);
}

/** The environment without settings of the person who measures. */
export function cleanEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('SVC_')));
}

export function start(program: string, args: readonly string[], options: SpawnOptions): ChildProcess {
  const child = spawn(program, args, { env: cleanEnvironment(), ...options });
  children.add(child);
  child.once('exit', () => children.delete(child));
  child.once('error', () => children.delete(child));
  return child;
}

export function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

/** Asks a process to end, by `signal`, and waits for it; one that does not is killed. */
export async function end(child: ChildProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  if (hasEnded(child)) return;
  const ended = new Promise<void>((resolve) => void child.once('exit', () => resolve()));
  child.kill(signal);
  const timer = setTimeout(() => child.kill('SIGKILL'), END_WITHIN_MS);
  await ended;
  clearTimeout(timer);
}

/** Ends and removes all that is left. */
export async function clearScratch(): Promise<void> {
  await Promise.all([...children].map((child) => end(child)));
  for (const path of directories) removeDir(path);
}

/** For the ways out that can't wait: an interrupt, an error that was not caught. */
export function clearScratchNow(): void {
  for (const child of children) child.kill('SIGKILL');
  for (const path of directories) removeDir(path);
}
