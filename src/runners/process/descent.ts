import { readdirSync, readFileSync } from 'node:fs';
import { nextTurn } from '../../lib/flow/cooperative.ts';
import { type ProcessEntry, processEntry } from './process-table.ts';

/** The number of processes that are read before yielding to other work: about 1 ms. */
const PROCESSES_PER_TURN = 16;

/**
 * A process that hands on to a child as fast as it is followed would be followed for ever. The next look sees the rest.
 */
const FOLLOWED_AT_MOST = 8_192;

/** Returns these processes and all their living descendants, by the kernel's lists of children. */
export async function withDescendants(roots: readonly ProcessEntry[]): Promise<ProcessEntry[]> {
  const found = new Map<number, ProcessEntry>();
  const waiting = [...roots];
  for (let entry = waiting.pop(); entry !== undefined && found.size < FOLLOWED_AT_MOST; entry = waiting.pop()) {
    if (found.has(entry.pid)) continue;
    found.set(entry.pid, entry);
    if (found.size % PROCESSES_PER_TURN === 0) await nextTurn();
    waiting.push(...childrenOf(entry.pid).flatMap((pid) => processEntry(pid) ?? []));
  }
  return [...found.values()];
}

/** Each thread has its own list. */
function childrenOf(pid: number): number[] {
  try {
    const lists = readdirSync(`/proc/${pid}/task`).map((thread) =>
      readFileSync(`/proc/${pid}/task/${thread}/children`, 'latin1'),
    );
    return lists.flatMap((list) => list.split(' ').filter(Boolean).map(Number));
  } catch {
    return [];
  }
}
