/** The tools, derived from the table of operations. */
import type { Tool as Definition } from '@modelcontextprotocol/server';
import type { Caller } from '../../domain/access/caller.ts';
import type { Scope } from '../../domain/access/scope.ts';
import { Failure } from '../../domain/failure.ts';
import { isNone } from '../../operations/core/http-face.ts';
import { IDEMPOTENCY_KEY, inputNode, type Node } from '../../operations/core/json-schema.ts';
import { type McpTool, toolsOf } from '../../operations/core/mcp-face.ts';
import { isWrite, mayWait, type Operation, takesKey } from '../../operations/core/operation.ts';
import { refusalOfAgent } from '../../operations/core/rights/authorize.ts';
import { OPERATIONS } from '../../operations/table.ts';
import { SCHEMA_VERSION } from '../../operations/core/envelope.ts';

/** The argument that is no field of the operation. */
const KEY = 'idempotency_key';
/** An agent has no stream to follow a job with. */
const FOLLOWED = 'followed';
/** A name in an error message is cut to this length. */
const NAME_SHOWN_MAX = 80;

export interface Tool {
  readonly operation: Operation;
  /** What `tools/list` shows of it. */
  readonly definition: Definition;
  readonly preset: Readonly<Record<string, string>>;
  /** The fields that it takes. */
  readonly fields: ReadonlySet<string>;
}

/** The same JSON as a node; the SDK has another type for it. */
type Schema = Definition['inputSchema'];

/** The tools of a caller, by name, in the order of the table. They are derived when first asked for. */
export class Tools {
  #all: readonly Tool[] | undefined;
  readonly #byScopes = new Map<string, ReadonlyMap<string, Tool>>();

  of({ scopes, agent }: Pick<Caller, 'scopes' | 'agent'>): ReadonlyMap<string, Tool> {
    const tools = this.#ofScopes(scopes);
    if (agent === null) return tools;
    return new Map([...tools].filter(([, { operation }]) => refusalOfAgent(operation, agent) === null));
  }

  #ofScopes(scopes: readonly Scope[]): ReadonlyMap<string, Tool> {
    const key = scopes.join(' ');
    const known = this.#byScopes.get(key);
    if (known !== undefined) return known;
    this.#all ??= OPERATIONS.flatMap((operation) => toolsOf(operation.mcp).map((face) => toolOf(operation, face)));
    const mine = this.#all.filter(({ operation }) => operation.scopes.some((scope) => scopes.includes(scope)));
    const named = new Map(mine.map((tool) => [tool.definition.name, tool]));
    this.#byScopes.set(key, named);
    return named;
  }
}

function toolOf(operation: Operation, { tool: name, summary, preset = {}, additive }: McpTool): Tool {
  const { properties, required } = inputNode(operation);
  const omitted = isNone(operation.http) ? [] : (operation.http.omit ?? []);
  const fields = Object.keys(properties).filter(
    (field) => !omitted.includes(field) && !(field in preset) && field !== FOLLOWED,
  );
  const needed = required.filter((field) => fields.includes(field));
  const key = takesKey(operation) ? { [KEY]: IDEMPOTENCY_KEY } : {};
  const writes = isWrite(operation);
  return {
    operation,
    preset,
    fields: new Set(fields),
    definition: {
      name,
      description: `${summary ?? operation.summary}.`,
      inputSchema: {
        type: 'object',
        properties: { ...Object.fromEntries(fields.map((field) => [field, properties[field]])), ...key },
        ...(needed.length === 0 ? {} : { required: needed }),
        additionalProperties: false,
      } as Schema,
      ...outputNode(operation),
      annotations: {
        readOnlyHint: !writes,
        destructiveHint: writes && additive !== true,
        idempotentHint: !writes || (!isNone(operation.http) && ['PUT', 'DELETE'].includes(operation.http.method)),
        openWorldHint: operation.effect === 'enqueue' || mayWait(operation),
      },
    },
  };
}

/**
 * The envelope, also that of an error, which some clients check too. What `data` holds is in the OpenAPI document: with
 * the views, the list of tools would be three to four times as long (60 KB in place of 19 KB for an operator), and each
 * agent reads all of it.
 */
function outputNode({ answers }: Operation): { outputSchema?: Schema } {
  if (answers.length === 0) return {};
  const properties: Record<string, Node> = {
    schema_version: { const: SCHEMA_VERSION },
    kind: { enum: [...answers, 'error'] },
    data: {},
    error: {},
  };
  return { outputSchema: { type: 'object', properties, required: ['schema_version', 'kind'] } as Schema };
}

/** The fields of the operation and the key, from the arguments of a call. Throws invalid_argument. */
export function inputOf(
  { operation, preset, fields }: Tool,
  given: Readonly<Record<string, unknown>>,
): { readonly raw: Readonly<Record<string, unknown>>; readonly idempotencyKey?: string } {
  const { [KEY]: key, ...rest } = given;
  const unknown = Object.keys(rest).find((name) => !fields.has(name));
  if (unknown !== undefined)
    throw new Failure('invalid_argument', `${JSON.stringify(unknown.slice(0, NAME_SHOWN_MAX))}: no such field here.`);
  const raw = { ...rest, ...preset };
  if (key === undefined) return { raw };
  if (!takesKey(operation)) throw new Failure('invalid_argument', `"${KEY}": no such field here.`);
  if (typeof key !== 'string') throw new Failure('invalid_argument', `${KEY}: expected text.`);
  return { raw, idempotencyKey: key };
}
