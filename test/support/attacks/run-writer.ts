/** Runs fault-writer.ts under strace and reads what it said. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Fact, Said } from '../faults/fault-writer.ts';

const WRITER = join(import.meta.dirname, '..', 'faults', 'fault-writer.ts');

export interface Wrote {
  readonly facts: readonly Fact[];
  readonly refused: readonly string[];
  readonly odd: readonly string[];
  /** Whether it came to its own end. */
  readonly over: boolean;
  readonly stderr: string;
}

export interface WriterOptions {
  readonly dataDir: string;
  readonly rounds: number;
  readonly mode?: 'full' | 'normal';
  /** Arguments of strace; without them it runs without strace. */
  readonly strace?: readonly string[];
  readonly cacheDir: string;
}

export async function runWriter({ dataDir, rounds, mode = 'full', strace, cacheDir }: WriterOptions): Promise<Wrote> {
  const command = [process.execPath, '--disable-warning=ExperimentalWarning', WRITER, dataDir, String(rounds), mode];
  const [program = '', ...args] = strace === undefined ? command : ['strace', ...strace, ...command];
  const env = { ...process.env, NODE_COMPILE_CACHE: cacheDir };
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], env });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  await once(child, 'close');
  return { ...readSaid(stdout), stderr };
}

/** The last line of a program that was ended may be cut off. An incomplete line does not count. */
export function readSaid(text: string): Omit<Wrote, 'stderr'> {
  const lines = text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Said);
  return {
    facts: lines.flatMap((line) => ('done' in line ? line.done : [])),
    refused: lines.flatMap((line) => ('refused' in line ? [line.refused] : [])),
    odd: lines.flatMap((line) => ('odd' in line ? [line.odd] : [])),
    over: lines.some((line) => 'over' in line),
  };
}
