/** A child program of the bench: it reads orders, lines of JSON, and answers each with a line of JSON. */
import type { ChildProcess } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { end, start } from './scratch.ts';

const BENCH = join(import.meta.dirname, '..');

export interface Child<Answer> {
  readonly pid: number;
  tell(order: unknown): void;
  /** The next line that it says. Rejects when it ends before. */
  next(): Promise<Answer>;
  /** Tells `order` and waits for the next line. */
  ask(order: unknown): Promise<Answer>;
  end(): Promise<void>;
}

/** As much of a child's standard error as an error message needs. */
const STDERR_TAIL_CHARS = 4_000;

/**
 * Starts `file`, a path below bench/, after the words of `wrapper`. `flags` are Node's own. Its log, if it writes one,
 * is written to `logFile`.
 */
export function openChild<Answer>(
  file: string,
  options: { flags?: readonly string[]; logFile?: string; wrapper?: readonly string[] } = {},
): Child<Answer> {
  const node = [process.execPath, '--disable-warning=ExperimentalWarning', ...(options.flags ?? [])];
  const [program, ...args] = [...(options.wrapper ?? []), ...node, join(BENCH, file)];
  const started = start(program, args, { stdio: ['pipe', 'pipe', 'pipe'] });
  const lines: Answer[] = [];
  const waiting: PromiseWithResolvers<Answer>[] = [];
  let gone: Error | null = null;
  const stderr = keepTail(started, options.logFile);
  if (started.stdout !== null) {
    createInterface({ input: started.stdout }).on('line', (line) => {
      const answer = JSON.parse(line) as Answer;
      const waiter = waiting.shift();
      if (waiter === undefined) lines.push(answer);
      else waiter.resolve(answer);
    });
  }
  started.stdin?.on('error', () => undefined); // The end of the process says it.
  started.once('close', (code, signal) => {
    gone = new Error(`${file} ended (${String(signal ?? code)}). ${stderr()}`);
    for (const waiter of waiting.splice(0)) waiter.reject(gone);
  });
  const next = (): Promise<Answer> => {
    const line = lines.shift();
    if (line !== undefined) return Promise.resolve(line);
    if (gone !== null) return Promise.reject(gone);
    const waiter = Promise.withResolvers<Answer>();
    waiting.push(waiter);
    return waiter.promise;
  };
  const tell = (order: unknown): void => void started.stdin?.write(`${JSON.stringify(order)}\n`);
  return {
    pid: started.pid ?? 0,
    tell,
    next,
    ask(order) {
      tell(order);
      return next();
    },
    end: () => end(started),
  };
}

function keepTail(child: ChildProcess, logFile: string | undefined): () => string {
  let tail = '';
  if (logFile !== undefined) child.stderr?.pipe(createWriteStream(logFile, { flags: 'a' }));
  else child.stderr?.on('data', (chunk: Buffer) => void (tail = (tail + chunk.toString()).slice(-STDERR_TAIL_CHARS)));
  return () => (logFile === undefined ? tail : `Its log is ${logFile}.`);
}

/** Starts `file`, gives it one order, answers its one line, and ends it. */
export async function runChild<Answer>(file: string, order: unknown, flags: readonly string[] = []): Promise<Answer> {
  const child = openChild<Answer>(file, { flags });
  try {
    return await child.ask(order);
  } finally {
    await child.end();
  }
}

/** Inside a child: its orders, one line of JSON each. */
export async function* orders<Order>(): AsyncGenerator<Order> {
  for await (const line of createInterface({ input: process.stdin })) yield JSON.parse(line) as Order;
}

/** Inside a child: says one line. */
export function say(answer: unknown): void {
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
