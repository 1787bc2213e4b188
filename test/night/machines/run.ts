/** Programs with a time limit, whose output is kept in a file. */
import { spawn, spawnSync } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';

export interface End {
  /** Null where a signal ended it: that of the time limit, too. */
  readonly code: number | null;
  readonly isOverdue: boolean;
  /** Both streams. */
  readonly output: string;
}

export interface Run {
  readonly words: readonly string[];
  readonly log: string;
  readonly limitMs: number;
  /** Ends what the program started in another process; none where it ends with the program. */
  readonly stop: readonly string[] | null;
}

/** What a signal to this process has to end. */
const running = new Set<() => void>();

/** Ends all programs at once, before this process ends. */
export function stopAll(): void {
  for (const stop of running) stop();
}

export async function runLimited({ words, log, limitMs, stop }: Run): Promise<End> {
  const [program = '', ...args] = words;
  const fd = openSync(log, 'w', 0o600);
  const child = spawn(program, args, { stdio: ['ignore', fd, fd] });
  closeSync(fd);
  const end = (): void => {
    if (stop !== null) spawnSync(stop[0] ?? '', stop.slice(1), { stdio: 'ignore' });
    child.kill('SIGKILL');
  };
  let isOverdue = false;
  const limit = setTimeout(() => {
    isOverdue = true;
    end();
  }, limitMs);
  running.add(end);
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    });
    return { code, isOverdue, output: readFileSync(log, 'utf8') };
  } finally {
    clearTimeout(limit);
    running.delete(end);
  }
}

/** For steps of the preparation: an error with the end of the output, unless the program succeeds. */
export async function runOrThrow(words: readonly string[], log: string, limitMs: number): Promise<void> {
  const { code, isOverdue, output } = await runLimited({ words, log, limitMs, stop: null });
  if (code === 0) return;
  const how = isOverdue ? 'did not end in time' : `failed with ${code}`;
  throw new Error(`${words.join(' ')} ${how}:\n${lastLines(output)}`);
}

const LAST_LINES = 40;

export function lastLines(text: string, count = LAST_LINES): string {
  return text.trimEnd().split('\n').slice(-count).join('\n');
}
