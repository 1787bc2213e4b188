/** Runs one line of an example in this process. */
import { createReadStream, writeFileSync } from 'node:fs';
import { PassThrough, Writable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { main } from '../../src/faces/cli/main.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { patient } from '../support/measure/slowness.ts';
import type { SvcLine } from './line.ts';

export const LINE_LIMIT_MS = 30_000;

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  /** Standard output and standard error. */
  readonly shown: string;
}

export interface Where {
  readonly env: Readonly<Record<string, string>>;
  readonly folder: string;
  /** What the reader types at a terminal. */
  readonly typed?: string;
  /** Presses Ctrl-C after this time. */
  readonly interruptAfterMs?: number;
}

/** Runs anything else in bash; only a test may. */
export type Shell = (text: string, where: Where) => Promise<Ran>;

class Screen extends Writable {
  text = '';
  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}

/** In this process, on the store of the daemon, as the command does it: the start of a process is left out. */
export async function runSvc({ words, input, output }: SvcLine, where: Where): Promise<Ran> {
  const { env, folder, typed, interruptAfterMs } = where;
  const before = process.cwd();
  // Paths of a command line begin at the folder that the reader is in.
  process.chdir(folder);
  const stdin =
    input === null
      ? Object.assign(new PassThrough(), typed === undefined ? {} : { isTTY: true })
      : createReadStream(input);
  if (stdin instanceof PassThrough) stdin.end(typed);
  const stdout = new Screen();
  const stderr = new Screen();
  try {
    const running = main({
      argv: words,
      env,
      stdin,
      stdout,
      stderr,
      clock: systemClock,
      version: '0.0.0-test',
      app: () => import('../../src/app.ts'),
      onInterrupt(listener) {
        if (interruptAfterMs !== undefined) void pause(interruptAfterMs).then(listener);
        return () => undefined;
      },
    });
    const code = await Promise.race([running, pause(patient(LINE_LIMIT_MS), -1, { ref: false })]);
    if (output !== null) writeFileSync(output, stdout.text);
    return { code, stdout: stdout.text, shown: stdout.text + stderr.text };
  } finally {
    process.chdir(before);
  }
}
