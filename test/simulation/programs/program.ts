import type { Stream } from '../world/chance.ts';
import type { Process } from './processes.ts';

/** What a program is started with, and what it can do. */
export interface Started {
  readonly process: Process;
  /** Its working directory, a real one. */
  readonly cwd: string;
  readonly chance: Stream;
  readonly print: (text: string) => void;
  readonly warn: (text: string) => void;
  /** To the pipe of its events, where it has one. */
  readonly report: (text: string) => void;
}

/** Each value is the time until the next step, in milliseconds of the world; the last one is the exit code. */
export type Steps = Generator<number, number, void>;

/** A program by what it does. */
export interface Program {
  /** It continues after SIGTERM, until it ends by itself. */
  readonly isDeaf: boolean;
  run(started: Started): Steps;
}
