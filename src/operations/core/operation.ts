import * as z from 'zod';
import type { Caller } from '../../domain/access/caller.ts';
import type { Causes } from '../../domain/events/causes.ts';
import type { FailureCode } from '../../domain/failure.ts';
import type { Scope } from '../../domain/access/scope.ts';
import type { Store } from '../../store/store.ts';
import type { Tx } from '../../store/engine/tx.ts';
import { because, followed } from './fields.ts';
import type { CliFace, NoVerb } from './cli-face.ts';
import { type HttpFace, isNone, type NoFace } from './http-face.ts';
import type { McpFace } from './mcp-face.ts';
import type { Reply, Written } from './reply.ts';
import type { Services } from './services.ts';
import type { ViewName } from '../../views/views.ts';

/** What every operation has to work with. */
export interface Context {
  readonly caller: Caller;
  readonly store: Store;
  readonly services: Services;
}

/** What an operation has to work with if the store could not be opened, for `reason`. */
export interface StorelessContext {
  readonly caller: Caller;
  readonly services: Pick<Services, 'server' | 'doctor'>;
  readonly reason: unknown;
}

export interface WriteContext extends Context {
  readonly tx: Tx;
  /** Of an operation that orders a job: the reason that the caller gave; null without one. */
  readonly because: string | null;
}

/** Whether the caller still waits for the answer. */
export interface ClientWait {
  /** Aborts when the caller has disconnected, or its face closes. */
  readonly signal: AbortSignal;
  /** True once the caller has disconnected: the answer is not read. */
  gone(): boolean;
}

export interface WaitContext extends Context {
  readonly clientWait: ClientWait;
}

interface Row<I extends z.ZodObject> {
  /** Noun and verb with a dot: the name in the ledger and in OpenAPI. */
  readonly id: string;
  readonly summary: string;
  readonly scopes: readonly Scope[];
  /** Who may call it in a browser, if that differs: any one of them. */
  readonly sessionScopes?: readonly Scope[];
  /** Refuses a browser's session: the contract wants a bearer token for this. */
  readonly bearerOnly?: true;
  /** Refuses a token of a program, for this reason. */
  readonly noAgents?: string;
  readonly http: HttpFace | NoFace;
  readonly cli: CliFace | NoVerb;
  readonly mcp: McpFace | NoFace;
  readonly input: I;
  /** The kinds that it may answer; none for 204, a stream, or a text. */
  readonly answers: readonly ViewName[];
  /** Its own failures, besides those that every operation has. */
  readonly failures: readonly FailureCode[];
}

interface ReadOperation<I extends z.ZodObject = z.ZodObject> extends Row<I> {
  readonly effect: 'read' | 'stream';
  /** The answer depends on the store and the input alone, so its bytes may be kept until the store changes. */
  readonly keep?: true;
  /** By its name, the data of each event of a stream, for the description of the API. */
  readonly events?: Readonly<Record<string, z.ZodType>>;
  /** How many streams of the process may be of one owner, where that differs from other streams. */
  readonly streamsPerOwner?: number;
  /** Its answer leaves a row in the ledger, about what this names; see `auditRead`. */
  audits?(input: z.output<I>): string;
  /** Its answer takes long: it ends when the caller has disconnected. */
  readonly waits?: true;
  run(context: WaitContext, input: z.output<I>): Promise<Reply>;
  /** Answers if the store could not be opened; without it the operation fails with the reason. */
  runWithoutStore?(context: StorelessContext, input: z.output<I>): Promise<Reply>;
}

export interface WriteOperation<I extends z.ZodObject = z.ZodObject, P = unknown> extends Row<I> {
  /** `enqueue` makes a job: its idempotency keys are shared by all that make jobs. */
  readonly effect: 'write' | 'enqueue';
  readonly causes: Causes;
  /** Takes no idempotency key: its answer holds a secret, and the answer to a key is kept in the store as it is. */
  readonly shownOnce?: true | 'on the machine';
  /** What takes time (hashing, other processes) and so must not be done while a transaction is open. */
  prepare?(context: Context, input: z.output<I>): Promise<P>;
  run(context: WriteContext, input: z.output<I>, prepared: P): Promise<Written>;
  /**
   * It may create no job. The key of such an answer is kept like that of any write, so that it does not use up a key of
   * a job.
   */
  readonly mayMakeNone?: true;
  /**
   * Runs around the write, for an answer that waits for a later event. `write` does the write, or finds the answer
   * under the same key; after it threw it may be called again. A reply replaces that answer in this call, not under
   * the key; null leaves it.
   */
  around?(context: WaitContext, input: z.output<I>, write: () => Promise<Answered>): Promise<Reply | null>;
}

/** What a write answered, as its view shows it; without content both are null. */
export interface Answered {
  readonly kind: ViewName | null;
  readonly data: unknown;
}

export type Operation = ReadOperation | WriteOperation;

/** The columns that a row may leave out, because most rows have the same. */
type Defaults = 'effect' | 'input' | 'answers' | 'failures';
type RowOf<T extends Record<Defaults, unknown>> = Omit<T, Defaults> & Partial<Pick<T, Defaults>>;

const NO_INPUT = z.strictObject({});
const DEFAULTS = { input: NO_INPUT, answers: [], failures: [] };

/** A row is a literal that a text search finds; these functions check its types and add the defaults. */
export function readOperation<I extends z.ZodObject = typeof NO_INPUT>(row: RowOf<ReadOperation<I>>): Operation {
  return { effect: 'read', ...DEFAULTS, ...row };
}

type WriteRow<I extends z.ZodObject, P> = Omit<RowOf<WriteOperation<I, P>>, 'effect' | 'causes'> &
  ({ readonly effect?: 'write'; readonly causes: Causes } | { readonly effect: 'enqueue'; readonly causes?: never });

const MAKES_JOBS: Causes = { none: 'Its caller is among the owners of the job, and so in the chain of its end.' };

export function writeOperation<I extends z.ZodObject = typeof NO_INPUT, P = undefined>(row: WriteRow<I, P>): Operation {
  const { input = NO_INPUT } = row;
  const whole = { effect: 'write', causes: MAKES_JOBS, ...DEFAULTS, ...row, input } as const;
  if (!orders(row)) return whole;
  if (row.answers?.includes('job.enqueued') !== true) return { ...whole, input: input.extend({ because }) };
  return { ...whole, cli: withoutFlag(row.cli, 'followed'), input: input.extend({ because, followed }) };
}

/** `--wait` carries the field. */
function withoutFlag(cli: CliFace | NoVerb, field: string): CliFace | NoVerb {
  return isNone(cli) ? cli : { ...cli, omit: [...(cli.omit ?? []), field] };
}

/** Whether each success is a job that the caller ordered. */
function orders({ effect, mayMakeNone }: Pick<WriteRow<z.ZodObject, unknown>, 'effect' | 'mayMakeNone'>): boolean {
  return effect === 'enqueue' && mayMakeNone !== true;
}

/** For an operation that neither HTTP nor MCP offers, for the same reason. */
export function localOnly(none: string): { readonly http: NoFace; readonly mcp: NoFace } {
  return { http: { none }, mcp: { none } };
}

export function isWrite(operation: Operation): operation is WriteOperation {
  return operation.effect === 'write' || operation.effect === 'enqueue';
}

/** Whether a repeat with the same idempotency key is answered as the first was; by some row only over the API. */
export function takesKey(operation: Operation): boolean {
  return isWrite(operation) && operation.shownOnce !== true;
}

/** Whether its answer may wait for something after the call: a face then watches whether the caller is still there. */
export function mayWait(operation: Operation): boolean {
  return 'around' in operation || 'waits' in operation;
}
