import type { Caller } from '../domain/caller.ts';
import { Failure } from '../domain/failure.ts';
import { findAnswer, keepAnswer } from '../store/idempotency.ts';
import type { Store } from '../store/store.ts';
import { encode, encodePages, encodeRaw } from './envelope.ts';
import { takesKey, type Operation, type WriteOperation } from './operation.ts';
import { parseInput } from './parse.ts';
import type { Reply, StreamEvent } from './reply.ts';
import type { Services } from './services.ts';
import { VIEWS, type ViewName } from './views.ts';
import type { z } from 'zod';

/** What a face sends on, unchanged. */
export type Answer =
  /** `data` is undefined where the operation answered JSON text. */
  | { readonly shape: 'body'; readonly status: number; readonly kind: ViewName; readonly body: string; readonly data: unknown }
  | { readonly shape: 'pages'; readonly status: number; readonly kind: ViewName; readonly body: AsyncIterable<string> }
  | { readonly shape: 'stream'; readonly status: number; readonly events: (signal: AbortSignal) => AsyncIterable<StreamEvent> }
  | { readonly shape: 'text'; readonly status: number; readonly contentType: string; readonly body: string }
  | { readonly shape: 'none'; readonly status: 204 };

export interface Invocation {
  readonly caller: Caller;
  /** The fields as the face gathered them; nothing was checked yet. */
  readonly raw: unknown;
  readonly idempotencyKey?: string | undefined;
}

export interface Home {
  readonly store: Store;
  readonly services: Services;
}

const KEY = /^[\x20-\x7e]{1,255}$/;

/** The one way to call an operation: scope, input, idempotency key, run, project. Throws Failure. */
export async function invoke(home: Home, operation: Operation, invocation: Invocation): Promise<Answer> {
  authorize(operation, invocation.caller);
  const input = parseInput(operation.input, invocation.raw);
  if ('audit' in operation) return runWrite(home, operation, invocation, input);
  return present(operation, await operation.run({ ...home, caller: invocation.caller }, input));
}

/** Scope before anything else: a refused call has read nothing. */
export function authorize(operation: Operation, caller: Caller): void {
  if (!operation.scopes.some((scope) => caller.scopes.includes(scope))) {
    throw new Failure('forbidden', `${operation.id} needs the scope ${operation.scopes.join(' or ')}; this credential has ${caller.scope}.`);
  }
  if (operation.bearerOnly === true && caller.credential === 'session') {
    throw new Failure('forbidden', `${operation.id} needs a bearer token: a browser session is not enough.`);
  }
}

async function runWrite(
  home: Home,
  operation: WriteOperation,
  { caller, idempotencyKey: key }: Invocation,
  input: z.output<z.ZodObject>,
): Promise<Answer> {
  if (key === undefined) return commit(home, operation, caller, input, null);
  if (!KEY.test(key)) throw new Failure('invalid_argument', 'Idempotency-Key: expected 1 to 255 printable ASCII characters.');
  if (!takesKey(operation)) {
    throw new Failure('invalid_argument', `Idempotency-Key: ${operation.id} takes none, because its answer is shown once and kept nowhere.`);
  }
  const holder = operation.effect === 'enqueue' ? `job:${caller.owner}` : `write:${caller.id}:${operation.id}`;
  const first = await kept(home, holder, key);
  if (first !== null) return first;
  try {
    return await commit(home, operation, caller, input, { holder, key });
  } catch (error) {
    // Another request with this key came first; its answer is ours, and what this one did was undone.
    if (home.store.dialect.faultOf(error) !== 'unique') throw error;
    const winner = await kept(home, holder, key);
    if (winner === null) throw error;
    return winner;
  }
}

async function kept(home: Home, holder: string, key: string): Promise<Answer | null> {
  const row = await findAnswer(home.store.db, holder, key);
  if (row === undefined) return null;
  if (row.kind === '') return { shape: 'none', status: 204 };
  const data: unknown = JSON.parse(row.data);
  return { shape: 'body', status: row.status, kind: row.kind as ViewName, body: encode(row.kind, data), data };
}

async function commit(
  home: Home,
  operation: WriteOperation,
  caller: Caller,
  input: z.output<z.ZodObject>,
  key: { holder: string; key: string } | null,
): Promise<Answer> {
  const prepared = await operation.prepare?.({ ...home, caller }, input);
  return home.store.write(async (tx) => {
    const result = await operation.run({ ...home, caller, tx }, input, prepared);
    const answer = present(operation, result);
    tx.record({
      principal: caller.name,
      owner: caller.owner,
      via: caller.via,
      operation: operation.id,
      ...operation.audit(input, result),
    });
    if (key !== null) {
      const body = answer.shape === 'body' ? { kind: answer.kind, data: JSON.stringify(answer.data) } : { kind: '', data: '' };
      await keepAnswer(tx, { ...key, status: answer.status, ...body, created_at: tx.now });
    }
    return answer;
  });
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
    case 'pages':
      return { shape: 'pages', status, kind: result.kind, body: encodePages(result.kind, projectPages(result.kind, result.pages)) };
    case 'encoded':
      requireAnswer(operation, result.kind);
      return { shape: 'body', status, kind: result.kind, body: encodeRaw(result.kind, result.json), data: undefined };
    case 'one': {
      requireAnswer(operation, result.kind);
      const data = VIEWS[result.kind].parse(result.data);
      return { shape: 'body', status, kind: result.kind, body: encode(result.kind, data), data };
    }
  }
}

function requireAnswer(operation: Operation, kind: ViewName): void {
  if (!operation.answers.includes(kind)) throw new Error(`${operation.id} does not answer ${kind}`);
}

async function* projectPages(kind: ViewName, pages: AsyncIterable<readonly unknown[]>): AsyncGenerator<readonly unknown[]> {
  for await (const page of pages) yield VIEWS[kind].parse(page) as readonly unknown[];
}

/** The status of a success. */
export function statusOf(operation: Operation): number {
  if ('status' in operation.http && operation.http.status !== undefined) return operation.http.status;
  return operation.effect === 'enqueue' ? 202 : 200;
}
