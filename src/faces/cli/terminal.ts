import type { Readable, Writable } from 'node:stream';
import type { Environment, Settings } from '../../config/settings/settings.ts';
import type { Caller } from '../../domain/access/caller.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Runtime, StorelessRuntime } from '../../operations/core/invoke.ts';
import type { OpenRestore } from './backups/open-restore.ts';

/** What `src/app.ts` builds. It is passed to the command line, because a face must not know its implementation. */
export interface App {
  /** Without `mayMake` a data directory that does not exist is refused. */
  openLocal(settings: Settings, mayMake?: boolean): Promise<LocalRuntime>;
  /** What still works after `openLocal` threw `reason`. */
  withoutStore(settings: Settings, reason: unknown): Promise<StorelessLocal>;
  /**
   * Both resolve to the exit code after a graceful stop. `load` reads the settings, at the start and for a reload;
   * `schema` says whether an older schema is brought up to date.
   */
  runServe(load: () => Promise<Settings>, io: ProgramIo, schema: 'create' | 'migrate'): Promise<number>;
  runWeb(settings: Settings, io: ProgramIo): Promise<number>;
  runMigrate(settings: Settings): Promise<{ readonly from: number; readonly to: number }>;
  readonly openRestore: OpenRestore;
}

export interface StorelessLocal {
  readonly runtime: StorelessRuntime;
  readonly caller: Caller;
}

export interface LocalRuntime {
  readonly runtime: Runtime;
  readonly caller: Caller;
  close(): Promise<void>;
}

export interface ProgramIo {
  readonly output: Output;
  readonly stdout: Writable;
  readonly stderr: Writable;
  readonly interactive: boolean;
}

export type Output = 'text' | 'json';

/** A stream that may be a terminal. */
type Screen = Writable & { readonly isTTY?: boolean; readonly columns?: number; readonly rows?: number };

const ROWS_DEFAULT = 24;

/** What fits on a terminal; null for any width. One whose size was never set says that it has 0 columns and rows. */
export function sizeOf({ columns = 0, rows = 0 }: Screen): { readonly width: number | null; readonly rows: number } {
  return { width: columns === 0 ? null : columns, rows: rows === 0 ? ROWS_DEFAULT : rows };
}

/** Everything outside that the command line uses; tests pass their own. */
export interface Terminal {
  readonly argv: readonly string[];
  readonly env: Environment;
  readonly stdin: Readable & { readonly isTTY?: boolean; setRawMode?(raw: boolean): unknown };
  readonly stdout: Screen;
  readonly stderr: Screen;
  readonly clock: Clock;
  readonly version: string;
  /** Loads the store and services, which remote calls never need. */
  app(): Promise<App>;
  /** Calls back on Ctrl-C, and on the signals given, instead of exiting; the returned function restores the default. */
  onInterrupt(listener: () => void, also?: readonly NodeJS.Signals[]): () => void;
}

/** Writes, and waits for a slow reader, so that memory does not grow with the answer. */
export async function write(stream: Writable, chunk: string | Uint8Array): Promise<void> {
  if (stream.write(chunk) || stream.destroyed) return;
  await new Promise<void>((resolve) => {
    const done = (): void => {
      for (const event of ENDS) stream.off(event, done);
      resolve();
    };
    for (const event of ENDS) stream.on(event, done);
  });
}

const ENDS = ['drain', 'close', 'error'];
