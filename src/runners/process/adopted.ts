import { JOB_ID_VARIABLE } from '../../domain/jobs/job.ts';
import { markIn, markOf } from '../sandbox/mark.ts';
import { newestPid, type ProcessEntry, processEntry, processesSince, wasStartedWith } from './process-table.ts';

/** The processes that jobs left behind and that this process adopted; null where the kernel has no such list. */
export type AdoptedList = () => readonly number[] | null;

/** Looks of one blow, so that requests are served on. One takes about 20 µs. */
const LOOKS_PER_BLOW = 512;

interface AdoptedLook {
  /** The living processes of the job among them. */
  readonly found: readonly ProcessEntry[];
  /** Those that died after they were listed: what they started may be adopted by now, and was not listed. */
  readonly died: readonly number[];
}

/**
 * Which of the adopted processes belong to a job. `isNear` adds what belongs to it whatever it carries. The list has to
 * be read in this turn: until the next one no end is taken, so a process that died since is still there, dead, with its
 * mark. With nothing found and nothing died, no process of the job is left.
 */
export async function lookAtAdopted(
  adopted: readonly number[],
  jobId: string,
  startTicks: number,
  isNear: (entry: ProcessEntry) => boolean,
): Promise<AdoptedLook> {
  // The usual case.
  if (adopted.length === 0) return { found: [], died: [] };
  const wanted = markOf(jobId);
  const [found, died]: [ProcessEntry[], number[]] = [[], []];
  const unmarked: ProcessEntry[] = [];
  for (const pid of adopted) {
    const entry = processEntry(pid);
    const mark = markIn(pid);
    const isOwn = mark === wanted && signalPid(pid, 0);
    if (entry === null) {
      // Dead, it has no environment any more: without a mark it may be of this job.
      if (isOwn || mark === null) died.push(pid);
    } else if (entry.startTicks >= startTicks) {
      if (isOwn || isNear(entry)) found.push(entry);
      else if (mark === null) unmarked.push(entry);
    }
  }
  for (const entry of unmarked) if (await carriesId(entry, jobId)) found.push(entry);
  return { found, died };
}

/**
 * Sends SIGKILL to what was adopted of a job, and at once to what is adopted of it next: a process that
 * starts its successor and ends at once is gone by the next turn. Answers whether some may be left, or null without a
 * list.
 */
export function killAdopted(jobId: string, list: AdoptedList, looksAtMost = LOOKS_PER_BLOW): boolean | null {
  const mark = markOf(jobId);
  for (let looks = 0; looks < looksAtMost;) {
    const adopted = list();
    if (adopted === null) return null;
    looks += adopted.length + 1;
    // The end of a child is taken here only, so that its pid stays its own.
    const own = adopted.filter((pid) => markIn(pid) === mark && signalPid(pid, 'SIGKILL'));
    if (own.length === 0) return false;
  }
  return true;
}

/** The same where there is no list: of the processes that were forked last. */
export function killForked(jobId: string): void {
  const mark = markOf(jobId);
  let before = (newestPid() ?? 0) - LOOKS_PER_BLOW;
  for (let looks = 0; looks < LOOKS_PER_BLOW;) {
    const newest = newestPid();
    const forked = processesSince(before, newest);
    if (forked === null || newest === null || newest === before) return;
    looks += newest - before;
    before = newest;
    for (const { pid } of forked) if (markIn(pid) === mark) signalPid(pid, 'SIGKILL');
  }
}

/** By its mark, or, where it has none, by the environment that it was started with. */
export async function carriesId({ pid }: ProcessEntry, jobId: string): Promise<boolean> {
  const mark = markIn(pid);
  const carries = mark === null ? await wasStartedWith(pid, `${JOB_ID_VARIABLE}=${jobId}`) : mark === markOf(jobId);
  // Every account can read a mark and give it to its own processes. One that takes no signal of ours is not of a job.
  return carries && signalPid(pid, 0);
}

/** False when the process has ended or belongs to another user. The next look decides. */
export function signalPid(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}
