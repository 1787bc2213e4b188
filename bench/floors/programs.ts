import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cleanEnvironment, removeDir, tempDir } from '../kit/scratch.ts';
import { monotonicMs } from '../kit/time.ts';

/** From the start of a program to its end, in milliseconds. Throws when it fails. */
export function runMs(
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = cleanEnvironment(),
): Promise<number> {
  const before = monotonicMs();
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: 'ignore', env });
    child.once('error', reject);
    child.once('exit', (code) => {
      if (code === 0) resolve(monotonicMs() - before);
      else reject(new Error(`${program} ended with ${String(code)}`));
    });
  });
}

/** An empty program of Node: what every command line in it costs at least. `use` runs it and answers milliseconds. */
export function withEmptyProgram<T>(use: (run: () => Promise<number>) => Promise<T>): Promise<T> {
  return withProgram('', (file) => use(() => runMs(process.execPath, [file])));
}

/** The least server of Node with a database in it. It writes a line when it accepts connections. */
const LEAST_SERVER = `
import { createServer } from 'node:http';
import { DatabaseSync } from 'node:sqlite';
new DatabaseSync(':memory:').exec('create table job (id text primary key)');
createServer((request, response) => response.end('ok')).listen(0, '127.0.0.1', () => console.log('ready'));
`;

/** `use` starts it, ends it when it is ready, and answers the milliseconds until then. */
export function withLeastServer<T>(use: (run: () => Promise<number>) => Promise<T>): Promise<T> {
  return withProgram(LEAST_SERVER, (file) => use(async () => (await spawnOnce(process.execPath, [file])).firstByteMs));
}

async function withProgram<T>(text: string, use: (file: string) => Promise<T>): Promise<T> {
  const dir = tempDir('program');
  const file = join(dir, 'program.mjs');
  writeFileSync(file, text);
  try {
    return await use(file);
  } finally {
    removeDir(dir);
  }
}

export interface SpawnTimes {
  /** Until the program has been started. */
  readonly startedMs: number;
  /** Until its first byte of output. */
  readonly firstByteMs: number;
}

/** A bare spawn of a program that prints something, and is ended then. */
export async function spawnOnce(program: string, args: readonly string[]): Promise<SpawnTimes> {
  const before = monotonicMs();
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const times = { startedMs: Number.NaN, firstByteMs: Number.NaN };
  child.once('spawn', () => void (times.startedMs = monotonicMs() - before));
  child.stdout.once('data', () => {
    times.firstByteMs = monotonicMs() - before;
    child.kill();
  });
  await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  return times;
}

/** Runs of a program per second, `slots` at a time, `count` in all. */
export async function spawnsPerSecond(program: string, slots: number, count: number): Promise<number> {
  let left = count;
  const before = monotonicMs();
  const slot = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await runMs(program, []);
    }
  };
  await Promise.all(Array.from({ length: slots }, slot));
  return count / ((monotonicMs() - before) / 1000);
}
