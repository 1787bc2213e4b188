import { readFileSync } from 'node:fs';
import type { Clock } from '../../lib/clock.ts';
import { processEntry } from '../../runners/process/process-table.ts';

/**
 * `npx svc serve` and `npm start` run a shell, which runs the daemon. At SIGTERM npm passes the signal to the shell
 * alone, and both end; nothing reaches the daemon, which is then stopped here.
 */

/** The interval of looks at the parent, in milliseconds. One who has ended npm does not wait long for the daemon. */
const LOOK_MS = 1_000;
/** SIGHUP within this time before: the terminal was closed, which a daemon outlives, in milliseconds. */
const HANGUP_MS = 5_000;
/**
 * After the shell was seen to be gone, in milliseconds: a timer that is due runs before the handler of a signal that
 * has come already.
 */
const SIGNAL_MS = 100;

type Environment = Readonly<Record<string, string | undefined>>;

/** `exec` is that of npx too. */
const COMMANDS: readonly (string | undefined)[] = ['exec', 'start', 'run', 'run-script'];
/** An `&` that starts a command in the background, and not `&&`, `>&` or `&>`. */
const BACKGROUND = /(?<![&>])&(?![&>])/;

/** Whether these are the words of a shell of npm that waits for its command. */
export function isNpmShell({ npm_command: command }: Environment, words: readonly string[]): boolean {
  const [shell = '', option, text = ''] = words;
  return (
    COMMANDS.includes(command) && /(?:^|\/)(?:ba|da|z)?sh$/.test(shell) && option === '-c' && !BACKGROUND.test(text)
  );
}

/**
 * Calls `stop` when the shell of npm that runs this process has ended, unless the terminal was closed. Does nothing for
 * a process that was started otherwise, in the background or in another session.
 */
export function stopWithNpm(env: Environment, clock: Clock, stop: () => void): void {
  const shell = process.ppid;
  const [own, parent] = [processEntry(process.pid), processEntry(shell)];
  if (own === null || parent === null || own.group !== parent.group || !isNpmShell(env, wordsOf(shell))) return;
  let hangupAt = Number.NEGATIVE_INFINITY;
  process.on('SIGHUP', () => (hangupAt = clock.monotonic()));
  const decide = (): void => {
    if (clock.monotonic() - hangupAt > HANGUP_MS) stop();
  };
  const look = (): void => {
    if (process.ppid === shell) clock.after(LOOK_MS, look);
    else clock.after(SIGNAL_MS, decide);
  };
  clock.after(LOOK_MS, look);
}

function wordsOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  } catch {
    return [];
  }
}
