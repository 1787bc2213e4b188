/** What is known of a new program that has taken the place of the old one in its process, until it reports. */

/** The process, and when it took the place of the old one, in milliseconds since the epoch; null if not recorded. */
export interface NewProgram {
  readonly host: string;
  readonly boot_id: string;
  readonly pid: number;
  readonly finished_at: number | null;
}

/** The machine that looks, and its processes. */
export interface ThisMachine {
  readonly host: string;
  readonly bootId: string;
  readonly isRunning: (pid: number) => boolean;
}

/**
 * A start takes a third of a second, and seconds on a busy machine: after this time, in milliseconds, an operator is
 * warned.
 */
export const STARTS_WITHIN_MS = 30_000;

const WAY_BACK = 'its error is in the log of the service: correct it, or install the old one, and start the daemon';

interface StartProblem {
  /** Its process is gone; otherwise it may still start. */
  readonly hasEnded: boolean;
  readonly words: string;
}

function isOn(program: NewProgram, { host, bootId }: ThisMachine): boolean {
  return program.host === host && program.boot_id === bootId;
}

/** Whether it may still start. A process of another machine is not seen, so that only the time tells. */
export function mayStart(program: NewProgram, here: ThisMachine, now: number): boolean {
  if (isOn(program, here)) return here.isRunning(program.pid);
  return now - (program.finished_at ?? 0) < STARTS_WITHIN_MS;
}

/** Why it may need an operator; null while all may be well. */
export function startProblem(program: NewProgram, here: ThisMachine, now: number): StartProblem | null {
  if (isOn(program, here) && !here.isRunning(program.pid))
    return { hasEnded: true, words: `the new program ended before it was ready; ${WAY_BACK}` };
  if (now - (program.finished_at ?? 0) < STARTS_WITHIN_MS) return null;
  return { hasEnded: false, words: `the new program has not started yet; if it does not, ${WAY_BACK}` };
}
