import { parentPort, workerData } from 'node:worker_threads';
import { parseState } from '../../../domain/workspaces/state.ts';
import type { StateReaderAnswer } from './state-reader.ts';

/** One state, read beside the event loop. Its bytes go back with the answer. */
const bytes = workerData as Uint8Array<ArrayBuffer>;

/**
 * Pretty JSON of the greatest length, in lists of the shortest texts, has that many. Beyond it the objects need far
 * more memory than the text: 126 MiB of `{},` held a thread for minutes at its limit, and it ends by nothing else.
 */
const VALUES_MAX = 8_000_000;
const QUOTE = 34;
const BACKSLASH = 92;
const COMMA = 44;
const OPEN_LIST = 91;
const OPEN_OBJECT = 123;

function hasTooMany(json: Uint8Array): boolean {
  let count = 0;
  let inText = false;
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at];
    if (inText && byte === BACKSLASH) at += 1;
    else if (byte === QUOTE) inText = !inText;
    else if (!inText && (byte === COMMA || byte === OPEN_LIST || byte === OPEN_OBJECT)) count += 1;
  }
  return count > VALUES_MAX;
}

function answer(): StateReaderAnswer {
  const state = hasTooMany(bytes) ? null : parseState(Buffer.from(bytes.buffer));
  if (state === null) return { bytes, read: null };
  const { serial, lineage, resources } = state;
  return { bytes, read: { serial, lineage, resources } };
}

parentPort?.postMessage(answer(), [bytes.buffer]);
