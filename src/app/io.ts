import type { Writable } from 'node:stream';

/** Where a program writes: answers to `stdout`, the log and hints to `stderr`. */
export interface Io {
  readonly output: 'text' | 'json';
  readonly stdout: Writable;
  readonly stderr: Writable;
  /** A person is there to read. */
  readonly interactive: boolean;
}
