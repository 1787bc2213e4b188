import { parentPort, workerData } from 'node:worker_threads';
import { valuesOf } from './json-values.ts';
import { type PlanReaderAnswer, type PlanReaderTask, readText } from './plan-reader.ts';

/** One plan, read beside the event loop. What a message carries is bytes, no Buffer. */
const { json, artifactId, secrets, secretVariables, file } = workerData as PlanReaderTask;

/** Twice what a plan of the greatest length has in resources of 64 bytes. 4 million held a thread for minutes (T97). */
const CONTAINERS_MAX = 2_000_000;

async function answer(): Promise<PlanReaderAnswer> {
  if (valuesOf(json).containers > CONTAINERS_MAX)
    return { problem: `The plan could not be read: it has more than ${CONTAINERS_MAX} objects and lists.` };
  try {
    const text = Buffer.from(json.buffer, json.byteOffset, json.byteLength).toString();
    const shown = file === null ? null : { bytes: Buffer.from(file.bytes), tool: file.tool };
    return await readText(text, {
      artifactId,
      secrets: secrets.map((secret) => Buffer.from(secret)),
      secretVariables,
      file: shown,
    });
  } catch (error) {
    return { problem: error instanceof Error ? error.message : 'The plan could not be read.' };
  }
}

parentPort?.postMessage(await answer());
