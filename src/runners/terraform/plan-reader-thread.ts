import { parentPort, workerData } from 'node:worker_threads';
import { type PlanReaderAnswer, type PlanReaderTask, readText } from './plan-reader.ts';

/** One plan, read beside the event loop. What a message carries is bytes, no Buffer. */
const { json, artifactId, secrets, secretVariables, file } = workerData as PlanReaderTask;

async function answer(): Promise<PlanReaderAnswer> {
  try {
    const text = Buffer.from(json.buffer, json.byteOffset, json.byteLength).toString();
    const shown = file === null ? null : { bytes: Buffer.from(file.bytes), tool: file.tool };
    return {
      plan: await readText(text, {
        artifactId,
        secrets: secrets.map((secret) => Buffer.from(secret)),
        secretVariables,
        file: shown,
      }),
    };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : 'The plan could not be read.' };
  }
}

parentPort?.postMessage(await answer());
