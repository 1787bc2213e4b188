import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { AccountIds } from '../../domain/jobs/account.ts';
import { nextTurn } from '../../lib/flow/cooperative.ts';
import { openAs } from '../account/as-account.ts';
import { OpenFile } from '../run-files/open-file.ts';

/** What processes use at a moment. */
interface Usage {
  /** With their threads. */
  readonly processes: number;
  /** What several processes share is counted for each of them. */
  readonly memory: Memory;
}

/** Memory that the kernel cannot take back. */
export interface Memory {
  /** That of processes alone, also where it is on the swap device. */
  readonly privateBytes: number;
  /** Mapped memory that processes share, with a name or without. */
  readonly sharedBytes: number;
}

interface Lines {
  readonly private: readonly string[];
  readonly shared: readonly string[];
}

/** Processes that are read before yielding to other work: about 1 ms. */
const PROCESSES_PER_TURN = 32;
const KIB = 1024;
/** It has some 25 lines. */
const ROLLUP_BYTES_MAX = 16 * 1024;
const OF_STATUS: Lines = { private: ['RssAnon', 'VmSwap'], shared: ['RssShmem'] };
const OF_ROLLUP: Lines = { private: ['Pss_Anon', 'SwapPss'], shared: ['Pss_Shmem'] };

export async function usageOf(pids: readonly number[]): Promise<Usage> {
  let processes = 0;
  const memory = { privateBytes: 0, sharedBytes: 0 };
  for (const [index, pid] of pids.entries()) {
    if (index % PROCESSES_PER_TURN === PROCESSES_PER_TURN - 1) await nextTurn();
    const status = statusOf(pid);
    processes += Number(/^Threads:\s+(\d+)$/m.exec(status)?.[1] ?? 0);
    addTo(memory, status, OF_STATUS);
  }
  return { processes, memory };
}

/**
 * As in `Usage`, but what several processes share is divided among them. The kernel takes longer for it, and shows
 * it to their account only.
 */
export async function exactMemoryOf(pids: readonly number[], account: AccountIds | null): Promise<Memory> {
  const memory = { privateBytes: 0, sharedBytes: 0 };
  for (const pid of pids) {
    const rollup = await readRollup(`/proc/${pid}/smaps_rollup`, account).catch(() => null);
    // Ended, or closed to this process: then only the other figure is known.
    if (rollup === null) addTo(memory, statusOf(pid), OF_STATUS);
    else addTo(memory, rollup, OF_ROLLUP);
  }
  return memory;
}

function addTo(memory: { -readonly [Part in keyof Memory]: number }, text: string, lines: Lines): void {
  memory.privateBytes += sumOf(text, lines.private);
  memory.sharedBytes += sumOf(text, lines.shared);
}

async function readRollup(path: string, account: AccountIds | null): Promise<string> {
  if (account === null) return readFile(path, 'latin1');
  const fd = await openAs(account, path);
  await using file = new OpenFile(fd);
  return (await file.read(ROLLUP_BYTES_MAX)).toString('latin1');
}

/** Of lines `Name:  123 kB`. */
function sumOf(text: string, names: readonly string[]): number {
  let bytes = 0;
  for (const [, name = '', kib] of text.matchAll(/^(\w+):\s+(\d+) kB$/gm)) {
    if (names.includes(name)) bytes += Number(kib) * KIB;
  }
  return bytes;
}

/** Empty where there is no such process. */
function statusOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/status`, 'latin1');
  } catch {
    return '';
  }
}
