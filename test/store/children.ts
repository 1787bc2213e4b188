/** Starts the child programs of child.ts and reads what they say. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
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
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', '--expose-gc', PROGRAM, command, JSON.stringify(input)],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const ended = once(child, 'close').then(([code, signal]) => ({
    code: code as number | null,
    signal: signal as NodeJS.Signals | null,
    stderr,
  }));
  return { said: parse(createInterface({ input: child.stdout })), kill: () => void child.kill('SIGKILL'), ended };
}

/** Reads to the end even without a listener: the end of a child with unread output would never be seen. */
async function* parse(lines: Interface): AsyncGenerator<Record<string, unknown>> {
  const unread: string[] = [];
  let over = false;
  let wake: (() => void) | null = null;
  lines.on('line', (line) => {
    unread.push(line);
    wake?.();
  });
  lines.once('close', () => {
    over = true;
    wake?.();
  });
  for (;;) {
    const line = unread.shift();
    // The last line of a killed program may be cut off. An incomplete line does not count.
    if (line?.endsWith('}') === true) yield JSON.parse(line) as Record<string, unknown>;
    else if (line === undefined && over) return;
    else if (line === undefined) await new Promise<void>((resolve) => (wake = resolve));
  }
}

/** The first thing that a child says. Throws with its standard error when it says nothing. */
export async function firstOf(child: Child): Promise<Record<string, unknown>> {
  for await (const answer of child.said) return answer;
  throw new Error(`The child program said nothing. ${(await child.ended).stderr}`);
}

/** Runs a child program to its end; answers the one thing it says. Throws when it fails. */
export async function runChild(command: ChildCommand, input: ChildInput): Promise<Record<string, unknown>> {
  const child = startChild(command, input);
  const answer = await firstOf(child);
  const { code, stderr } = await child.ended;
  if (code !== 0) throw new Error(`The child program failed. ${stderr}`);
  return answer;
}
