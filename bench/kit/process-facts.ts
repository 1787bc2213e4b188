import { readFileSync, readdirSync } from 'node:fs';

/** Ticks of a processor in a second, as /proc counts them on Linux. */
const TICKS_PER_SECOND = 100;
const KIB_PER_MIB = 1024;

/** Resident memory in MiB. 0 for a process that has gone. */
export function residentMiB(pid: number): number {
  const kib = /^VmRSS:\s+(\d+) kB$/m.exec(read(`/proc/${pid}/status`))?.[1];
  return Number(kib ?? 0) / KIB_PER_MIB;
}

/** Seconds of processor time that a process has used, in user and system mode. */
export function processorSeconds(pid: number): number {
  const fields = afterName(pid);
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) / TICKS_PER_SECOND;
}

/** How often the first thread of a process, which runs its event loop, has slept and was woken. */
export function wakeUps(pid: number): number {
  return Number(/^voluntary_ctxt_switches:\s+(\d+)$/m.exec(read(`/proc/${pid}/task/${pid}/status`))?.[1] ?? Number.NaN);
}

export interface ChildFacts {
  readonly pid: number;
  /** Its command line, the words separated by blanks. */
  readonly command: string;
  readonly residentMiB: number;
}

/** The processes whose parent is `pid`. */
export function childrenOf(pid: number): ChildFacts[] {
  const pids = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
  return pids
    .filter((each) => Number(afterName(each)[1] ?? 0) === pid)
    .map((each) => ({
      pid: each,
      command: read(`/proc/${each}/cmdline`).replaceAll('\0', ' ').trim(),
      residentMiB: residentMiB(each),
    }));
}

/** The fields of /proc/<pid>/stat from the state on: the name before them may hold blanks. */
function afterName(pid: number): string[] {
  const text = read(`/proc/${pid}/stat`);
  return text.slice(text.lastIndexOf(')') + 2).split(' ');
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
