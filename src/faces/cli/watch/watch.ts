import { Failure } from '../../../domain/failure.ts';
import { pause } from '../../../lib/clock.ts';
import type { Client } from '../connection/client.ts';
import { openClient } from '../connection/open-client.ts';
import type { ProgramSession } from '../connection/session.ts';
import { EXIT_INTERRUPTED } from '../follow/follow.ts';
import { line } from '../../text/safe.ts';
import { sizeOf, type Terminal, write } from '../terminal.ts';
import { changesBetween } from './changes.ts';
import { draw, ENTER, LEAVE } from './screen.ts';
import { readSnapshot, type Snapshot } from './snapshot.ts';

const PAUSE_MS = 2_000;
/** A look that took long is followed by a pause of this many times as long, so that watching stays cheap. */
const PAUSE_FACTOR = 10;
/** Failures in a row after which lines end; a screen shows the failure and continues. */
const FAILED_LOOKS_MAX = 30;
const QUIT = ['q', 'Q', '\u0004'];
const CTRL_C = '\u0003';

/** Where looks are shown. */
interface Sink {
  show(snapshot: Snapshot, fault: string | null): Promise<void>;
  readonly givesUp: boolean;
}

/**
 * `svc watch`: on a terminal one screen that is drawn again in place; elsewhere a line for each change. Resolves to 0
 * after q, and to 130 after Ctrl-C.
 */
export async function watch(session: ProgramSession): Promise<number> {
  const { terminal, options, flags } = session;
  const client = await openClient(terminal, flags, options);
  try {
    // The first look decides whether there is anything to watch, before the screen changes.
    const first = await readSnapshot(client);
    const isScreen = options.output === 'text' && terminal.stdout.isTTY === true && terminal.env['TERM'] !== 'dumb';
    return isScreen ? await onScreen(session, client, first) : await inLines(session, client, first);
  } finally {
    await client.close();
  }
}

async function inLines({ terminal, options }: ProgramSession, client: Client, first: Snapshot): Promise<number> {
  const stop = new AbortController();
  const restore = terminal.onInterrupt(() => stop.abort());
  let before: Snapshot | null = null;
  const show = async (snapshot: Snapshot): Promise<void> => {
    for (const { text, row } of changesBetween(before, snapshot))
      await write(terminal.stdout, options.output === 'json' ? `${JSON.stringify(row)}\n` : line(text));
    before = snapshot;
  };
  try {
    await look(terminal, client, first, { show, givesUp: true }, stop.signal);
    return EXIT_INTERRUPTED;
  } finally {
    restore();
  }
}

async function onScreen(session: ProgramSession, client: Client, first: Snapshot): Promise<number> {
  const { terminal, options } = session;
  const { stdin, stdout, clock } = terminal;
  const stop = new AbortController();
  let exitCode = 0;
  const interrupt = (): void => {
    exitCode = EXIT_INTERRUPTED;
    stop.abort();
  };
  let shown: Parameters<Sink['show']> = [first, null];
  const redraw = (): Promise<void> => {
    const [snapshot, fault] = shown;
    const { width, rows } = sizeOf(stdout);
    const display = { nowMs: clock.now(), color: options.color, width };
    return write(stdout, draw({ snapshot, fault, place: placeOf(session), rows }, display));
  };
  const resized = (): void => void redraw();
  const restore = terminal.onInterrupt(interrupt, ['SIGTERM', 'SIGHUP']);
  const release = readKeys(stdin, options.noInput, (key) => (key === CTRL_C ? interrupt() : stop.abort()));
  stdout.on('resize', resized);
  await write(stdout, ENTER);
  try {
    const show: Sink['show'] = (...look) => {
      shown = look;
      return redraw();
    };
    await look(terminal, client, first, { show, givesUp: false }, stop.signal);
    return exitCode;
  } finally {
    stdout.off('resize', resized);
    release();
    restore();
    await write(stdout, LEAVE);
  }
}

/** Looks again and again until the signal. Throws Failure. */
async function look(
  { clock }: Terminal,
  client: Client,
  first: Snapshot,
  sink: Sink,
  signal: AbortSignal,
): Promise<void> {
  const stopped = new Promise<null>((resolve) => signal.addEventListener('abort', () => resolve(null)));
  let snapshot = first;
  let tookMs = 0;
  await sink.show(first, null);
  for (let failed = 0; await pause(clock, Math.max(PAUSE_MS, tookMs * PAUSE_FACTOR), signal);) {
    const startedMs = clock.monotonic();
    try {
      const read = await Promise.race([readSnapshot(client), stopped]);
      if (read === null) return;
      snapshot = read;
      failed = 0;
      await sink.show(snapshot, null);
    } catch (error) {
      failed += 1;
      const passes = error instanceof Failure && ['unavailable', 'kdf_busy'].includes(error.code);
      if (!passes || (sink.givesUp && failed > FAILED_LOOKS_MAX)) throw error;
      await sink.show(snapshot, error.message);
    }
    tookMs = clock.monotonic() - startedMs;
  }
}

/** Without echo and without waiting for a line end. The returned function gives the keys back. */
function readKeys(stdin: Terminal['stdin'], noInput: boolean, quit: (key: string) => void): () => void {
  if (noInput) return () => undefined;
  const pressed = (chunk: Buffer | string): void => {
    const key = [CTRL_C, ...QUIT].find((each) => String(chunk).includes(each));
    if (key !== undefined) quit(key);
  };
  stdin.setRawMode?.(true);
  stdin.on('data', pressed);
  return () => {
    stdin.off('data', pressed);
    stdin.setRawMode?.(false);
    stdin.pause();
  };
}

function placeOf({ options }: ProgramSession): string {
  if (options.context !== undefined) return options.context.name;
  return options.remote ?? 'this machine';
}
