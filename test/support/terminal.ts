/** The command line in this process: a terminal whose streams, clock and program a test hands in and reads. */
import { PassThrough, Writable } from 'node:stream';
import type { Caller } from '../../src/domain/access/caller.ts';
import { localCaller } from '../../src/domain/access/caller.ts';
import { main } from '../../src/faces/cli/main.ts';
import type { App, Terminal } from '../../src/faces/cli/terminal.ts';
import type { Clock } from '../../src/lib/clock.ts';
import type { Runtime } from '../../src/operations/core/invoke.ts';

export interface Ran {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Given {
  readonly env?: Readonly<Record<string, string>>;
  readonly clock?: Clock;
  readonly app?: App;
  /** What is typed; standard input is then a terminal. */
  readonly typed?: string;
  /** Standard output and standard error are a terminal with this number of columns. */
  readonly columns?: number;
  /** With `columns`: the number of its lines. */
  readonly rows?: number;
  /** Called with what presses Ctrl-C, as soon as somebody listens for it. */
  readonly interruptible?: (interrupt: () => void) => void;
}

class Screen extends Writable {
  text = '';
  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}

/** Time that passes at once: a pause ends as soon as nothing else is to do. */
export function hurriedClock(
  startMs = Date.parse('2026-11-21T12:00:00.000Z'),
): Clock & { readonly pausesMs: number[] } {
  let nowMs = startMs;
  const pausesMs: number[] = [];
  return {
    pausesMs,
    now: () => nowMs,
    monotonic: () => nowMs,
    after(ms, fire) {
      let live = true;
      // Time-outs in the tens of seconds guard against silence; nothing here is silent.
      if (ms >= 5_000) return () => undefined;
      pausesMs.push(ms);
      setImmediate(() => {
        if (!live) return;
        nowMs += ms;
        fire();
      });
      return () => void (live = false);
    },
  };
}

export const NO_APP: App = {
  openLocal: () => Promise.reject(new Error('this test has no data directory')),
  withoutStore: () => Promise.reject(new Error('this test has no data directory')),
  runServe: () => Promise.reject(new Error('this test runs no daemon')),
  runWeb: () => Promise.reject(new Error('this test runs no server')),
  runMigrate: () => Promise.reject(new Error('this test has no store')),
  openRestore: () => Promise.reject(new Error('this test has no backup')),
};

/** Local mode on a runtime of the test's own. */
export function appOf(runtime: Runtime, caller: Caller = localCaller('ana')): App {
  return { ...NO_APP, openLocal: () => Promise.resolve({ runtime, caller, close: () => Promise.resolve() }) };
}

export async function svc(argv: readonly string[], given: Given = {}): Promise<Ran> {
  const stdin = Object.assign(new PassThrough(), given.typed === undefined ? {} : { isTTY: true });
  stdin.end(given.typed ?? '');
  const stdout = Object.assign(
    new Screen(),
    given.columns === undefined ? {} : { isTTY: true, columns: given.columns, rows: given.rows ?? 24 },
  );
  const stderr = Object.assign(new Screen(), given.columns === undefined ? {} : { isTTY: true });
  const terminal: Terminal = {
    argv,
    env: given.env ?? {},
    stdin,
    stdout,
    stderr,
    clock: given.clock ?? hurriedClock(),
    version: '0.0.0-test',
    app: () => Promise.resolve(given.app ?? NO_APP),
    onInterrupt(listener) {
      given.interruptible?.(listener);
      return () => undefined;
    },
  };
  const exitCode = await main(terminal);
  return { exitCode, stdout: stdout.text, stderr: stderr.text };
}
