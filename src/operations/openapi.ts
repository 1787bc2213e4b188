import { type FailureCode, failureRow } from '../domain/failure.ts';
import { READERS } from '../domain/access/scope.ts';
import { SCHEMA_VERSION } from './core/envelope.ts';
import { type HttpFace, isNone, placeOf } from './core/http-face.ts';
import { IDEMPOTENCY_KEY, inputNode, jsonSchema, type Node } from './core/json-schema.ts';
import { isWrite, type Operation, readOperation, takesKey } from './core/operation.ts';
import { statusOf } from './core/invoke.ts';
import { STALE } from '../views/approvals/views.ts';
import { VIEWS, type ViewName } from '../views/views.ts';

/** What every operation may answer beside its own failures. */
const ALWAYS: readonly FailureCode[] = [
  'unauthenticated',
  'forbidden',
  'kdf_busy',
  'unavailable',
  'invalid_argument',
  'internal',
];

/** Describes the table that it is a row of; a function, because the table does not exist yet. */
export function openapiOperation(table: () => Promise<readonly Operation[]>): Operation {
  // 28 ms of processor time, and the same for the life of a process.
  let text: Promise<string> | null = null;
  return readOperation({
    id: 'openapi',
    summary: 'Describe this API in OpenAPI 3.1',
    scopes: READERS,
    http: { method: 'GET', path: '/openapi.json' },
    cli: { none: 'The command line describes itself: svc commands.' },
    mcp: { none: 'MCP describes its tools itself.' },
    run: async ({ services }) => ({
      shape: 'text',
      contentType: 'application/json',
      text: await (text ??= table().then((rows) => openapiText(rows, services.server.version))),
    }),
  });
}

/** The document as text, indented, with a newline at its end: the same for the same table and version. */
export function openapiText(table: readonly Operation[], version: string): string {
  return `${JSON.stringify(describe(table, version), null, 2)}\n`;
}

function describe(table: readonly Operation[], version: string): Node {
  const paths: Record<string, Record<string, Node>> = {};
  for (const operation of table) {
    const { http } = operation;
    if (isNone(http)) continue;
    const methods = (paths[http.path] ??= {});
    methods[http.method.toLowerCase()] = operationNode(operation, http);
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Gatehouse',
      version,
      description:
        'Queues and runs jobs. Risky jobs wait until another person approves them. Every answer is an envelope.',
    },
    // Relative to where this document is, so that it holds under any base path and behind any proxy.
    servers: [{ url: '../v1' }],
    security: [{ token: [] }, { session: [] }],
    paths,
    components: {
      securitySchemes: SECURITY,
      schemas: { ...viewSchemas(), ...eventSchemas(table), error: ERROR_SCHEMA },
    },
  };
}

const SECURITY: Node = {
  token: { type: 'http', scheme: 'bearer', description: 'A token of the form svc_<id>_<secret>.' },
  session: { type: 'apiKey', in: 'cookie', name: 'svc_session', description: 'A browser session: reads only.' },
};

const ERROR_SCHEMA: Node = {
  type: 'object',
  properties: {
    schema_version: { const: SCHEMA_VERSION },
    kind: { const: 'error' },
    error: {
      type: 'object',
      properties: {
        code: { type: 'string' },
        message: { type: 'string' },
        hint: { type: 'string' },
        stale: {
          ...jsonSchema(STALE, 'output'),
          description: 'With stale_plan: what changed since the plan was made.',
        },
      },
      required: ['code', 'message', 'hint'],
    },
  },
  required: ['schema_version', 'kind', 'error'],
};

/** One envelope per kind of answer. */
function viewSchemas(): Node {
  return Object.fromEntries(
    Object.entries(VIEWS).map(([kind, view]) => [
      kind,
      {
        type: 'object',
        properties: {
          schema_version: { const: SCHEMA_VERSION },
          kind: { const: kind },
          data: jsonSchema(view, 'output'),
        },
        required: ['schema_version', 'kind', 'data'],
      },
    ]),
  );
}

/** The data of each event of each stream. */
function eventSchemas(table: readonly Operation[]): Node {
  return Object.fromEntries(
    table.flatMap((row) =>
      eventsOf(row).map(([name, schema]) => [eventName(row, name), jsonSchema(schema, 'output')] as const),
    ),
  );
}

function eventsOf(operation: Operation) {
  return Object.entries(isWrite(operation) ? {} : (operation.events ?? {}));
}

function eventName({ id }: Operation, event: string): string {
  return `${id}.${event}`;
}

function operationNode(operation: Operation, http: HttpFace): Node {
  const { properties, required } = inputNode(operation);
  const fields = Object.keys(properties).filter((field) => http.omit?.includes(field) !== true);
  const placed = fields.map((field) => ({ field, place: placeOf(http, field) }));
  const repeats = http.repeats ?? [];
  const inBody = [...repeats, ...placed.filter(({ place }) => place === 'body').map(({ field }) => field)];
  const needed = required.filter((field) => !repeats.includes(field));
  const parameters = placed
    .filter(({ place }) => place !== 'body')
    .map(({ field, place }) => ({
      name: field,
      in: place as string,
      required: place === 'path' || required.includes(field),
      schema: properties[field],
    }));
  if (takesKey(operation)) parameters.push(KEY_HEADER);
  return {
    operationId: operation.id,
    summary: operation.summary,
    description:
      'Scopes: ' +
      `${operation.scopes.join(', ')}.${http.method === 'GET' ? '' : ' Needs a bearer token, not a browser session.'}`,
    ...(http.method === 'GET' ? {} : { security: [{ token: [] }] }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(inBody.length === 0 ? {} : { requestBody: bodyNode(inBody, properties, needed) }),
    responses: responses(operation),
  };
}

const KEY_HEADER = { name: 'Idempotency-Key', in: 'header', required: false, schema: IDEMPOTENCY_KEY };

function bodyNode(
  fields: readonly string[],
  properties: Readonly<Record<string, Node>>,
  required: readonly string[],
): Node {
  const needed = fields.filter((field) => required.includes(field));
  const schema = {
    type: 'object',
    properties: Object.fromEntries(fields.map((field) => [field, properties[field]])),
    ...(needed.length === 0 ? {} : { required: needed }),
    additionalProperties: false,
  };
  return { required: needed.length > 0, content: { 'application/json': { schema } } };
}

const UNCHANGED = { description: 'The answer is the one that the ETag in If-None-Match names; there is no content.' };

/** The answers of success, then one entry per status with the codes that it stands for. */
function responses(operation: Operation): Node {
  const codes = new Map<number, FailureCode[]>();
  for (const code of new Set([...ALWAYS, ...operation.failures])) {
    const { status } = failureRow(code);
    codes.set(status, [...(codes.get(status) ?? []), code]);
  }
  const failures = [...codes]
    .toSorted(([a], [b]) => a - b)
    .map(([status, list]) => [
      String(status),
      { description: list.map((code) => `${code}: ${failureRow(code).hint}`).join(' '), content: json('error') },
    ]);
  const others = 'otherStatuses' in operation.http ? (operation.http.otherStatuses ?? []) : [];
  const successes = [statusOf(operation), ...others]
    .toSorted((a, b) => a - b)
    .map((status) => [String(status), success(operation)]);
  const unchanged = 'keep' in operation && operation.keep ? { 304: UNCHANGED } : {};
  return { ...Object.fromEntries(successes), ...unchanged, ...Object.fromEntries(failures) };
}

function success(operation: Operation): Node {
  if (operation.effect === 'stream') return stream(operation);
  if (statusOf(operation) === 204) return { description: 'Done; there is no content.' };
  if (operation.answers.length === 0)
    return { description: operation.summary, content: { 'application/json': { schema: { type: 'object' } } } };
  return { description: operation.answers.join(' or '), content: json(...operation.answers) };
}

/** OpenAPI 3.1 has no words for the events of a stream, but takes further members. */
function stream(operation: Operation): Node {
  const events = eventsOf(operation).map(([name]) => [name, schemaRef(eventName(operation, name))] as const);
  const names = events.map(([name]) => name).join(', ');
  return {
    description: `Server-sent events: ${names}. The data of each is JSON.`,
    content: { 'text/event-stream': { schema: { type: 'string' }, 'x-events': Object.fromEntries(events) } },
  };
}

function schemaRef(name: string): Node {
  return { $ref: `#/components/schemas/${name}` };
}

function json(...kinds: (ViewName | 'error')[]): Node {
  const refs = kinds.map(schemaRef);
  return { 'application/json': { schema: refs.length === 1 ? refs[0] : { oneOf: refs } } };
}
