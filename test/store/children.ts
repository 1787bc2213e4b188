/** Starts the child programs of child.ts and reads what they say. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { ChildCommand, ChildInput } from './child.ts';

const PROGRAM = join(import.meta.dirname, 'child.ts');

export interface Child {
  /** What it says, line by line; ends when it ends. */
  readonly said: AsyncIterable<Record<string, unknown>>;
  kill(): void;
  /** Resolves when it has ended and everything it said was read. */
  readonly ended: Promise<{ code: number | null; signal: NodeJS.Signals | null; stderr: string }>;
}

export function startChild(command: ChildCommand, input: ChildInput): Child {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', PROGRAM, command, JSON.stringify(input)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const ended = once(child, 'close').then(([code, signal]) => ({ code: code as number | null, signal: signal as NodeJS.Signals | null, stderr }));
  const lines = createInterface({ input: child.stdout });
  return { said: parse(lines), kill: () => void child.kill('SIGKILL'), ended };
}

async function* parse(lines: AsyncIterable<string>): AsyncGenerator<Record<string, unknown>> {
  // The last line of a killed program may be cut: what is not whole was not said.
  for await (const line of lines) if (line.endsWith('}')) yield JSON.parse(line) as Record<string, unknown>;
}

/** The first thing that a child says. Throws with its standard error when it says nothing. */
export async function firstOf(child: Child): Promise<Record<string, unknown>> {
  for await (const told of child.said) return told;
  throw new Error(`The child program said nothing. ${(await child.ended).stderr}`);
}

/** Runs a child program to its end; answers the one thing it says. Throws when it fails. */
export async function runChild(command: ChildCommand, input: ChildInput): Promise<Record<string, unknown>> {
  const child = startChild(command, input);
  const told = await firstOf(child);
  const { code, stderr } = await child.ended;
  if (code !== 0) throw new Error(`The child program failed. ${stderr}`);
  return told;
}
