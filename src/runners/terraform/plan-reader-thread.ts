import { parentPort, workerData } from 'node:worker_threads';
import { parsePlan } from '../../domain/plan-json.ts';
import { viewOf } from '../../domain/plan-view.ts';
import type { PlanReaderAnswer, PlanReaderTask } from './plan-reader.ts';

/** One plan, read beside the event loop. What a message carries is bytes, no Buffer. */
const { json, artifactId, secrets, secretVariables } = workerData as PlanReaderTask;

function answer(): PlanReaderAnswer {
  try {
    const text = Buffer.from(json.buffer, json.byteOffset, json.byteLength).toString();
    return { plan: viewOf(parsePlan(text), { artifactId, secrets: secrets.map((secret) => Buffer.from(secret)), secretVariables }) };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : 'The plan could not be read.' };
  }
}

parentPort?.postMessage(answer());
