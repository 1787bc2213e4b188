/** How a page asks operations: as the visitor, by the one way, and only those that its row lists. */
import type { Caller } from '../../domain/access/caller.ts';
import { Failure } from '../../domain/failure.ts';
import { isNone } from '../../operations/core/http-face.ts';
import { type Answer, invoke, type Runtime } from '../../operations/core/invoke.ts';
import { authorize } from '../../operations/core/rights/authorize.ts';
import type { Operation } from '../../operations/core/operation.ts';
import { fromText } from '../../operations/core/parse.ts';
import { OPERATIONS } from '../../operations/table.ts';
import type { Projected, ViewName } from '../../views/views.ts';

const BY_ID = new Map(OPERATIONS.map((operation) => [operation.id, operation]));
/** Rows that a page shows at most, and those that it shows when its URL names no `limit`. */
export const ROWS_MAX = 500;
export const ROWS = 100;
/** Of the answer that a page shows; what is beyond is left out. */
const LIST_CHARACTERS_MAX = 1_048_576;
/** A name in a message is cut to this length. */
const NAME_SHOWN_MAX = 80;
const LIST_END = ']}\n';

/** Throws for an id that the table does not have: a row of a page is wrong. */
export function operationOf(id: string): Operation {
  const operation = BY_ID.get(id);
  if (operation === undefined) throw new Error(`There is no operation ${id}`);
  return operation;
}

interface Visit {
  readonly runtime: Runtime;
  readonly caller: Caller;
}

/** Throws Failure. */
export async function ask<V extends ViewName>(
  { runtime, caller }: Visit,
  id: string,
  kind: V,
  raw: Readonly<Record<string, unknown>>,
): Promise<Projected<V>> {
  return dataOf(await invoke(runtime, operationOf(id), { caller, raw: bounded(operationOf(id), raw) }), kind);
}

/** The view in an answer, as its bytes say; of a longer list the first part. */
async function dataOf<V extends ViewName>(answer: Answer, kind: V): Promise<Projected<V>> {
  if ((answer.shape !== 'body' && answer.shape !== 'batches') || answer.kind !== kind)
    throw new Error(`The answer is no ${kind}`);
  const { body } = answer;
  const text = typeof body === 'string' || Buffer.isBuffer(body) ? body.toString() : await firstPart(body);
  return (JSON.parse(text) as { data: Projected<V> }).data;
}

/** Whole batches up to the bound, closed as a list is. */
async function firstPart(batches: AsyncIterable<string>): Promise<string> {
  let text = '';
  for await (const part of batches) {
    text += part;
    if (text.length > LIST_CHARACTERS_MAX) return part.endsWith(LIST_END) ? text : text + LIST_END;
  }
  return text;
}

function bounded({ input }: Operation, raw: Readonly<Record<string, unknown>>): Record<string, unknown> {
  if (!('limit' in input.shape)) return { ...raw };
  const limit = raw['limit'] ?? ROWS;
  return { ...raw, limit: limit === 0 || Number(limit) > ROWS_MAX ? ROWS_MAX : limit };
}

export function mayCall(caller: Caller, id: string): boolean {
  try {
    authorize(operationOf(id), caller);
    return true;
  } catch (error) {
    if (error instanceof Failure) return false;
    throw error;
  }
}

/**
 * The fields of an operation that a query has, with their types. Throws invalid_argument for another one, and for one
 * that is given twice.
 */
export function queryFields(id: string, query: URLSearchParams): Record<string, unknown> {
  const { input, http } = operationOf(id);
  const shape: Readonly<Record<string, Parameters<typeof fromText>[0]>> = input.shape;
  const raw: Record<string, unknown> = {};
  for (const [name, text] of query) {
    const schema = shape[name];
    if (schema === undefined || (!isNone(http) && http.omit?.includes(name) === true))
      throw new Failure(
        'invalid_argument',
        `${JSON.stringify(name.slice(0, NAME_SHOWN_MAX))} is no filter of this page.`,
      );
    // An empty field of a form is one that was not filled in.
    if (text === '') continue;
    if (name in raw) throw new Failure('invalid_argument', `${name}: this query parameter was given more than once.`);
    raw[name] = fromText(schema, text);
  }
  return raw;
}
