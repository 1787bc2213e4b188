import type { Caller } from '../../domain/access/caller.ts';
import { Failure } from '../../domain/failure.ts';
import { findAnswer, keepAnswer } from '../../store/access/idempotency.ts';
import type { Tx } from '../../store/engine/tx.ts';
import type { Db } from '../../store/schema/schema.ts';
import type { Store } from '../../store/store.ts';
import { encode, encodeBatches, encodeRaw } from './envelope.ts';
import { isNone, pathFields } from './http-face.ts';
import {
  type Answered,
  isWrite,
  type Operation,
  type StorelessContext,
  type ClientWait,
  takesKey,
  type WriteOperation,
} from './operation.ts';
import { parseInput } from './parse.ts';
import { auditRead } from './read-audits.ts';
import { beginFollow } from '../../store/jobs/follows.ts';
import { authorize, requireNamed } from './rights/authorize.ts';
import { recordWrite, type Reply, type StreamEvent } from './reply.ts';
import type { Services } from './services.ts';
import { VIEWS, type ViewName } from '../../views/views.ts';
import { mustHold } from '../../lib/invariants/invariants.ts';
import type * as z from 'zod';

/** What a face sends on, unchanged. */
export type Answer =
  /** `data` is undefined where the operation answered JSON. */
  | {
      readonly shape: 'body';
      readonly status: number;
      readonly kind: ViewName;
      readonly body: string | Buffer;
      readonly data: unknown;
    }
  | {
      readonly shape: 'batches';
      readonly status: number;
      readonly kind: ViewName;
      readonly body: AsyncIterable<string>;
    }
  | {
      readonly shape: 'stream';
      readonly status: number;
      readonly events: (signal: AbortSignal) => AsyncIterable<StreamEvent>;
    }
  | { readonly shape: 'text'; readonly status: number; readonly contentType: string; readonly body: string }
  | { readonly shape: 'none'; readonly status: 204 };

export interface Invocation {
  readonly caller: Caller;
  /** The fields as the face gathered them; nothing was checked yet. */
  readonly raw: unknown;
  readonly idempotencyKey?: string | undefined;
  /** Without one the caller stays, however long it takes. */
  readonly clientWait?: ClientWait | undefined;
}

export interface Runtime {
  readonly store: Store;
  readonly services: Services;
}

export type StorelessRuntime = Omit<StorelessContext, 'caller'>;

type Input = z.output<z.ZodObject>;

const KEY = /^[\x20-\x7e]{1,255}$/;

/** Throws invalid_argument. */
export function checkIdempotencyKey(key: string): void {
  if (!KEY.test(key))
    throw new Failure('invalid_argument', 'Idempotency-Key: expected 1 to 255 printable ASCII characters.');
}

/** The one way to call an operation: scope, input, idempotency key, run, project. Throws Failure. */
export async function invoke(runtime: Runtime, operation: Operation, invocation: Invocation): Promise<Answer> {
  authorize(operation, invocation.caller);
  const input = parseInput(operation.input, invocation.raw);
  requireNamed(operation, invocation.caller, input);
  if (isWrite(operation)) return runWrite({ runtime, operation, invocation, input });
  const { caller, clientWait = STAYS } = invocation;
  const answer = present(operation, await operation.run({ ...runtime, caller, clientWait }, input));
  const target = operation.audits?.(input);
  // Without its row nothing is shown.
  if (target !== undefined) await auditRead(runtime, caller, { operation: operation.id, target });
  return answer;
}

/** The same if the store could not be opened: an operation that needs it throws the reason. */
export async function invokeWithoutStore(
  { services, reason }: StorelessRuntime,
  operation: Operation,
  { caller, raw }: Invocation,
): Promise<Answer> {
  authorize(operation, caller);
  const input = parseInput(operation.input, raw);
  if (isWrite(operation) || operation.runWithoutStore === undefined) throw reason;
  return present(operation, await operation.runWithoutStore({ caller, services, reason }, input));
}

const STAYS: ClientWait = { signal: new AbortController().signal, gone: () => false };

/** A call of an operation that writes; its input was checked. */
interface WriteCall {
  readonly runtime: Runtime;
  readonly operation: WriteOperation;
  readonly invocation: Invocation;
  readonly input: Input;
}

/** The write, with what the operation does around it. */
async function runWrite(call: WriteCall): Promise<Answer> {
  const { runtime, operation, invocation, input } = call;
  if (operation.around === undefined) return writeOnce(call);
  const { caller, clientWait = STAYS } = invocation;
  let first: Answer | undefined;
  const write = async (): Promise<Answered> => {
    first = await writeOnce(call);
    return first.shape === 'body' ? first : { kind: null, data: null };
  };
  const other = await operation.around({ ...runtime, caller, clientWait }, input, write);
  if (other !== null) return present(operation, other);
  if (first === undefined) throw new Error(`${operation.id} wrote nothing`);
  return first;
}

async function writeOnce(call: WriteCall): Promise<Answer> {
  const { runtime, operation, invocation } = call;
  const { idempotencyKey: key } = invocation;
  if (key === undefined) return commit(call, null);
  checkIdempotencyKey(key);
  const isLocal = invocation.caller.credential === 'local';
  if (!takesKey(operation) || (operation.shownOnce !== undefined && isLocal)) {
    throw new Failure(
      'invalid_argument',
      `Idempotency-Key: ${operation.id} takes none, because its answer is shown once and kept nowhere.`,
    );
  }
  const asked = heldKey(call, key);
  const first = await kept(runtime.store.db, asked);
  if (first !== null) return first;
  try {
    return await commit(call, asked);
  } catch (error) {
    // Another request with this key came first; its answer is ours, and what this one did was undone.
    if (runtime.store.dialect.faultOf(error) !== 'unique') throw error;
    const winner = await kept(runtime.store.db, asked);
    if (winner === null) throw error;
    return winner;
  }
}

/** A key, and under whose name its answer is kept. */
interface HeldKey {
  readonly key: string;
  readonly holder: string;
  /** The same for an answer that made no job, where the operation may give one. */
  readonly joblessHolder: string | null;
}

function heldKey({ operation, invocation: { caller }, input }: WriteCall, key: string): HeldKey {
  // A decision about one thing is no repeat of one about another, whatever key it carries.
  const target = isNone(operation.http)
    ? ''
    : pathFields(operation.http)
        .map((name) => `:${String(input[name])}`)
        .join('');
  const own = `write:${caller.id}:${operation.id}${target}`;
  if (operation.effect !== 'enqueue') return { key, holder: own, joblessHolder: null };
  return { key, holder: `job:${caller.owner}`, joblessHolder: operation.mayMakeNone === true ? own : null };
}

async function kept(db: Db, { key, holder, joblessHolder }: HeldKey): Promise<Answer | null> {
  const row =
    (await findAnswer(db, holder, key)) ??
    (joblessHolder === null ? undefined : await findAnswer(db, joblessHolder, key));
  if (row === undefined) return null;
  if (row.kind === '') return { shape: 'none', status: 204 };
  const data: unknown = JSON.parse(row.data);
  return { shape: 'body', status: row.status, kind: row.kind as ViewName, body: encode(row.kind, data), data };
}

async function commit({ runtime, operation, invocation, input }: WriteCall, key: HeldKey | null): Promise<Answer> {
  const { caller } = invocation;
  const prepared = await operation.prepare?.({ ...runtime, caller }, input);
  return runtime.store.write(async (tx) => {
    if (key !== null && key.joblessHolder !== null) {
      // Which of two rows a request with this key will write is not known yet, so no unique row makes the second one
      // wait.
      await tx.dialect.lockKey(tx.db, `idempotency:${key.holder}:${key.key}`);
      const winner = await kept(tx.db, key);
      if (winner !== null) return winner;
    }
    const because = becauseOf(input);
    const { reply, audit, jobless } = await operation.run({ ...runtime, caller, tx, because }, input, prepared);
    const answer = present(operation, reply);
    if (input['followed'] === true) await follow(tx, reply);
    const detail = because === null ? audit.detail : { ...audit.detail, because };
    await recordWrite(tx, operation, caller, { ...audit, detail });
    if (key !== null) await keep(tx, key.key, holderOf(key, jobless), answer);
    return answer;
  });
}

/** A job that waits for an approval may end long after its caller has left. */
async function follow(tx: Tx, answered: Reply): Promise<void> {
  if (answered.shape !== 'one' || answered.kind !== 'job.enqueued') return;
  await beginFollow(tx, (answered.data as { readonly job_id: string }).job_id);
}

/** Null where none was given, or the operation takes none. */
function becauseOf({ because }: Input): string | null {
  return typeof because === 'string' && because !== '' ? because : null;
}

function holderOf({ holder, joblessHolder }: HeldKey, jobless = false): string {
  return jobless && joblessHolder !== null ? joblessHolder : holder;
}

async function keep(tx: Tx, key: string, holder: string, answer: Answer): Promise<void> {
  const body =
    answer.shape === 'body' ? { kind: answer.kind, data: JSON.stringify(answer.data) } : { kind: '', data: '' };
  await keepAnswer(tx, { key, holder, status: answer.status, ...body, created_at: tx.now });
}

/** Projects through the view and encodes: the bytes that every face shows. */
function present(operation: Operation, result: Reply): Answer {
  const status = statusOf(operation);
  switch (result.shape) {
    case 'none':
      return { shape: 'none', status: 204 };
    case 'stream':
      return { shape: 'stream', status, events: result.events };
    case 'text':
      return { shape: 'text', status, contentType: result.contentType, body: result.text };
    case 'batches':
      return {
        shape: 'batches',
        status,
        kind: result.kind,
        body: encodeBatches(result.kind, projectBatches(result.kind, result.batches)),
      };
    case 'encoded':
      requireAnswer(operation, result.kind);
      return { shape: 'body', status, kind: result.kind, body: encodeRaw(result.kind, result.json), data: undefined };
    case 'one': {
      requireAnswer(operation, result.kind);
      const data = project(result.kind, result.data);
      return {
        shape: 'body',
        status: result.status ?? status,
        kind: result.kind,
        body: encode(result.kind, data),
        data,
      };
    }
  }
}

function requireAnswer(operation: Operation, kind: ViewName): void {
  mustHold('project.kind', { operation: operation.id, kind, isListed: operation.answers.includes(kind) });
}

function project(kind: ViewName, data: unknown): unknown {
  const read = VIEWS[kind].safeParse(data);
  // Only the first part of a path is ours: a later one may be a name that an operator gave.
  const faults = (read.error?.issues ?? []).map(({ path, code }) => `${String(path[0] ?? '')}:${code}`).join(',');
  mustHold('project.shape', { kind, faults });
  return read.data;
}

async function* projectBatches(
  kind: ViewName,
  batches: AsyncIterable<readonly unknown[]>,
): AsyncGenerator<readonly unknown[]> {
  for await (const batch of batches) yield project(kind, batch) as readonly unknown[];
}

/** The status of a success with content: 202 where a job is queued. */
export function statusOf(operation: Operation): number {
  if (isWrite(operation) && operation.answers.length === 0) return 204;
  return operation.effect === 'enqueue' ? 202 : 200;
}
