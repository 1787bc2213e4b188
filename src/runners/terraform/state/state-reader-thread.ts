import { parentPort, workerData } from 'node:worker_threads';
import { parseState } from '../../../domain/workspaces/state.ts';
import { valuesOf } from '../json-values.ts';
import type { StateReaderAnswer } from './state-reader.ts';

/** One state, read beside the event loop. Its bytes go back with the answer. */
const bytes = workerData as Uint8Array<ArrayBuffer>;

/**
 * Pretty JSON of the greatest length, in lists of the shortest texts, has that many. Beyond it the objects need far
 * more memory than the text: 126 MiB of `{},` held a thread for minutes at its limit, and it ends by nothing else.
 */
const VALUES_MAX = 8_000_000;

function answer(): StateReaderAnswer {
  const state = valuesOf(bytes).all > VALUES_MAX ? null : parseState(Buffer.from(bytes.buffer));
  if (state === null) return { bytes, read: null };
  const { serial, lineage, resources } = state;
  return { bytes, read: { serial, lineage, resources } };
}

parentPort?.postMessage(answer(), [bytes.buffer]);
