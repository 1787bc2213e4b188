import { parentPort } from 'node:worker_threads';
import type { ReaderAnswer, ReaderTask } from './message-reader.ts';
import { normalise } from '../normalise/normalise.ts';
import { Unreadable } from '../normalise/payload.ts';

/**
 * Reads long messages off the event loop of the daemon. Events are returned as bytes of JSON, so that the daemon parses
 * them one by one.
 */

function read({ source, contentType, query, bytes }: ReaderTask): ReaderAnswer {
  try {
    const { events, problems } = normalise(source, {
      contentType,
      query,
      bytes: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
    });
    const parts = events.map((event) => Buffer.from(JSON.stringify(event)));
    const json = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
    const ends = new Uint32Array(parts.length);
    let at = 0;
    for (const [index, part] of parts.entries()) {
      json.set(part, at);
      at += part.length;
      ends[index] = at;
    }
    return { json, ends, problems };
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    return { why: error.message, refusal: error.refusal };
  }
}

parentPort?.on('message', (task: ReaderTask) => {
  const answer = read(task);
  parentPort?.postMessage(answer, 'json' in answer ? [answer.json.buffer, answer.ends.buffer] : []);
});
// From now on, a crash is caused by the task.
parentPort?.postMessage('ready');
