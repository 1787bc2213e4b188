import { Worker } from 'node:worker_threads';
import { parseState } from '../../../domain/workspaces/state.ts';
import type { State } from '../../../domain/workspaces/workspace.ts';
import { type Clock, pause, systemClock } from '../../../lib/clock.ts';
import { programEntry } from '../../../lib/files/program-files.ts';

/** Up to here a state is read in place: that takes up to 20 ms, and a thread needs 100 ms and more to start. */
const INLINE_MAX_BYTES = 1024 * 1024;

/** What a thread may take: one that needs more ends, not the daemon. */
interface ThreadLimits {
  readonly memoryMb: number;
  readonly limitMs: number;
}

const LIMITS: ThreadLimits = { memoryMb: 1024, limitMs: 30_000 };

/** What the thread says: the bytes that it was given, and what is in them. */
export interface StateReaderAnswer {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly read: Pick<State, 'serial' | 'lineage' | 'resources'> | null;
}

/**
 * As `parseState`, for bytes that a program of a run may have left: a long state is read in a thread, so that the event
 * loop is not held. `bytes` is then handed over and empty afterwards. Null also for what needs more than the thread
 * may take.
 */
export function readStateBytes(bytes: Buffer): Promise<State | null> {
  return bytes.length <= INLINE_MAX_BYTES ? Promise.resolve(parseState(bytes)) : readStateInThread(bytes, LIMITS);
}

/** For `readStateBytes`, and for the test of a thread that runs out of memory or of time. */
export async function readStateInThread(
  given: Buffer,
  { memoryMb, limitMs }: ThreadLimits,
  clock: Clock = systemClock,
): Promise<State | null> {
  const bytes = whole(given);
  const thread = new Worker(programEntry('runners/terraform/state/state-reader-thread'), {
    workerData: bytes,
    transferList: [bytes.buffer],
    resourceLimits: { maxOldGenerationSizeMb: memoryMb },
    // Nothing in there needs the daemon's.
    env: {},
  });
  const done = new AbortController();
  try {
    const late = pause(clock, limitMs, done.signal).then(() => null);
    const answer = await Promise.race([answerOf(thread), late]);
    if (answer === null || answer.read === null) return null;
    return { ...answer.read, bytes: Buffer.from(answer.bytes.buffer) };
  } finally {
    done.abort();
    await thread.terminate();
  }
}

/** Null where the thread ended without one, as when it ran out of memory. */
function answerOf(thread: Worker): Promise<StateReaderAnswer | null> {
  return new Promise((resolve) => {
    thread.once('message', resolve);
    for (const end of ['messageerror', 'error', 'exit']) thread.once(end, () => resolve(null));
  });
}

/** Only a buffer that is the whole of its memory can be handed over; of any other a copy is. */
function whole(given: Buffer): Uint8Array<ArrayBuffer> {
  const { buffer, byteOffset, byteLength } = given;
  if (buffer instanceof ArrayBuffer && byteOffset === 0 && byteLength === buffer.byteLength)
    return new Uint8Array(buffer);
  return new Uint8Array(given);
}
