/** The end of the demo. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { signalGroup } from '../src/lib/programs/process-group.ts';
import { removeFolders } from './demo-folders.ts';
import type { Held } from './demo-service.ts';
import { within } from './demo-wait.ts';

/** A daemon waits for its requests and jobs to end. */
const END_LIMIT_MS = 30_000;
/** What a killed process needs on a busy machine. */
const KILL_LIMIT_MS = 10_000;
/** Enough to see what the daemon complained about. */
const LOG_LINES = 5;
const LOG_LINE_CHARS = 400;

/** Ends the daemon and what else runs, and takes its directories away. Throws when something remains. */
export async function clear(held: Held): Promise<void> {
  held.over = true;
  const children = [...held.running];
  const ends = Promise.all(children.map(async (child) => once(child, 'exit')));
  for (const child of children) child.kill('SIGTERM');
  try {
    await within(ends, END_LIMIT_MS, 'the end of the daemon');
  } catch {
    for (const { pid } of children) signalGroup(pid, 'SIGKILL');
    await within(ends, KILL_LIMIT_MS, 'the end of the killed daemon');
  }
  removeFolders(held.folders);
}

/** The last lines of a log, cut; none where it cannot be read. */
export function lastLines(log: string): string[] {
  try {
    const lines = readFileSync(log, 'utf8').trimEnd().split('\n');
    return lines.slice(-LOG_LINES).flatMap((line) => (line === '' ? [] : line.slice(0, LOG_LINE_CHARS)));
  } catch {
    return [];
  }
}
