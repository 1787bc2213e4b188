import { Worker } from 'node:worker_threads';
import { isObject, parsePlan } from '../../domain/workspaces/plan-json.ts';
import { maskedTexts } from '../../domain/workspaces/plan-secrets.ts';
import { type PlanViewOptions, viewOf } from '../../domain/workspaces/plan-view.ts';
import type { ReadPlan } from '../../domain/workspaces/plan.ts';
import { printedForms } from '../../domain/workspaces/printed-values.ts';
import { type PlanFile, readPlanFile, sizeOfPlan } from './plan-file.ts';
import { refuseOtherPlan } from './plan-match.ts';
import { pause, systemClock } from '../../lib/clock.ts';
import { programEntry } from '../../lib/files/program-files.ts';

/** Some 23,000 resources with 1 kB of attributes each. What is longer is refused before it is parsed. */
export const PLAN_JSON_MAX_BYTES = 64 * 1024 * 1024;
/** Up to here a plan is read in place: that takes up to 20 ms, and a thread needs 100 ms and more to start. */
const INLINE_MAX_BYTES = 1024 * 1024;
/** The same for the plan file, whose fields may be of two bytes each. */
const INLINE_FILE_MAX_BYTES = 256 * 1024;
/** The longest plans took 192 MB or less, 42 MB of digits 448: a thread that needs more ends, not the daemon. */
const THREAD_MEMORY_MB = 512;
/** The bound of last resort: the limits of the length and of the objects end what is made to be slow (T97). */
const THREAD_LIMIT_MS = 120_000;

/** What the thread is given. */
export interface PlanReaderTask {
  readonly json: Uint8Array<ArrayBuffer>;
  readonly artifactId: string;
  readonly secrets: readonly Uint8Array[];
  readonly secretVariables: readonly string[];
  readonly file: { readonly bytes: Uint8Array; readonly tool: PlanFile['tool'] } | null;
}

interface PlanReaderOptions extends PlanViewOptions {
  /** The plan file: a plan that was shown otherwise than the file has it is refused. Null compares with nothing. */
  readonly file: PlanFile | null;
}

/** A plan, and how terraform prints the values that its view hides: null where these are too many. Never stored. */
interface PlanAndMasks {
  readonly plan: ReadPlan;
  /** Names of variables that the apply of the plan needs again. */
  readonly applyVariables: readonly string[];
  readonly masks: readonly Buffer[] | null;
}

/** What the thread says: the plan, or why it can't be read. */
export type PlanReaderAnswer = PlanAndMasks | { readonly problem: string };

/**
 * Reads what `terraform show -json` printed of a plan. A long one is read in a separate thread, so that the event loop
 * is not held; `json` is then handed over and empty afterwards. Rejects with an Error that quotes nothing of the plan
 * where it is too long, not JSON or not a plan, or where the thread ended without an answer.
 */
export async function readPlan(json: Buffer, options: PlanReaderOptions): Promise<PlanAndMasks> {
  if (json.length > PLAN_JSON_MAX_BYTES) {
    throw new Error(
      `The plan could not be read: its JSON has ${json.length} bytes, and at most ${PLAN_JSON_MAX_BYTES} are read.`,
    );
  }
  const isShort =
    json.length <= INLINE_MAX_BYTES && (options.file === null || sizeOfPlan(options.file) <= INLINE_FILE_MAX_BYTES);
  return isShort ? readText(json.toString(), options) : readInThread(json, options, THREAD_MEMORY_MB);
}

/** For `readPlan` and its thread. Rejects with an Error that quotes nothing of the plan. */
export async function readText(text: string, options: PlanReaderOptions): Promise<PlanAndMasks> {
  const plan = parsePlan(text);
  const inFile = options.file === null ? null : await readPlanFile(options.file);
  if (inFile !== null) refuseOtherPlan(plan, inFile.changes);
  const view = viewOf(plan, options);
  const texts = isObject(plan) ? maskedTexts(plan, options.secrets, options.secretVariables ?? []) : [];
  return { plan: view, applyVariables: inFile?.applyVariables ?? [], masks: printedForms(texts) };
}

/** For `readPlan`, and for the test of a thread that runs out of memory. */
export async function readInThread(json: Buffer, options: PlanReaderOptions, memoryMb: number): Promise<PlanAndMasks> {
  const { artifactId, secrets, secretVariables = [], file } = options;
  const handed = whole(json);
  const task: PlanReaderTask = { json: handed, artifactId, secrets, secretVariables, file };
  const thread = new Worker(programEntry('runners/terraform/plan-reader-thread'), {
    workerData: task,
    transferList: [handed.buffer],
    resourceLimits: { maxOldGenerationSizeMb: memoryMb },
    // Nothing in there needs the daemon's.
    env: {},
  });
  const done = new AbortController();
  try {
    const late = pause(systemClock, THREAD_LIMIT_MS, done.signal).then(() => TOO_SLOW);
    const answer = await Promise.race([answerOf(thread), late]);
    if ('problem' in answer) throw new Error(answer.problem);
    // What a message carries is bytes, no Buffer.
    const masks = answer.masks?.map(({ buffer, byteOffset, byteLength }) =>
      Buffer.from(buffer, byteOffset, byteLength),
    );
    return { ...answer, masks: masks ?? null };
  } finally {
    done.abort();
    await thread.terminate();
  }
}

const TOO_SLOW: PlanReaderAnswer = { problem: 'The plan could not be read within 2 minutes.' };

function answerOf(thread: Worker): Promise<PlanReaderAnswer> {
  return new Promise((resolve, reject) => {
    thread.once('message', resolve);
    thread.once('messageerror', () =>
      reject(new Error('The plan could not be read: the answer of the thread was lost.')),
    );
    // The error of the thread itself may quote the plan; its code doesn't.
    thread.once('error', (error: NodeJS.ErrnoException) =>
      reject(new Error(`The plan could not be read: the thread failed (${error.code ?? error.name}).`)),
    );
    thread.once('exit', () => reject(new Error('The plan could not be read: the thread ended without an answer.')));
  });
}

/** Only a buffer that is the whole of its memory can be handed over; of any other a copy is. */
function whole(json: Buffer): Uint8Array<ArrayBuffer> {
  const { buffer, byteOffset, byteLength } = json;
  if (buffer instanceof ArrayBuffer && byteOffset === 0 && byteLength === buffer.byteLength)
    return new Uint8Array(buffer);
  return new Uint8Array(json);
}
