/**
 * The two methods that agents call all the time, without the SDK: it makes a request and a response of the web and
 * checks each message with several schemas, which takes longer than the call itself (`npm run bench -- mcp`). A message
 * that is not exactly of the usual form has no direct route: the SDK answers it, or refuses it. A test compares the
 * answers of both.
 */
import type { McpMessage } from './json-rpc.ts';

/** The revision of the era without `initialize`. */
const MODERN = '2026-07-28';
/** The revisions that the SDK knows of the era before. */
const LEGACY = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '2024-10-07'];

const META = 'io.modelcontextprotocol/';

type Fields = Readonly<Record<string, unknown>>;

export interface DirectRoute {
  readonly id: string | number;
  readonly era: 'legacy' | 'modern';
  /** Null for the list of tools. */
  readonly call: { readonly name: string; readonly given: Fields } | null;
}

/** Null for what the SDK has to look at. */
export function directRoute({ body, headers }: McpMessage): DirectRoute | null {
  if (!hasOnly(body, ['jsonrpc', 'id', 'method', 'params']) || body['jsonrpc'] !== '2.0') return null;
  const { id, method, params = {} } = body;
  if (typeof id !== 'string' && !Number.isSafeInteger(id)) return null;
  const isCall = method === 'tools/call';
  if (!isCall && method !== 'tools/list') return null;
  if (!hasOnly(params, isCall ? ['name', 'arguments', '_meta'] : ['_meta'])) return null;
  const era = eraOf(method, params, headers);
  if (era === null) return null;
  const known = { id: id as string | number, era };
  if (!isCall) return { ...known, call: null };
  const { name, arguments: given = {} } = params;
  return typeof name === 'string' && isObject(given) ? { ...known, call: { name, given } } : null;
}

function eraOf(method: string, params: Fields, headers: Readonly<Record<string, string>>): DirectRoute['era'] | null {
  if (headers['content-type'] === undefined) return null;
  const version = headers['mcp-protocol-version'];
  const { _meta: meta } = params;
  if (meta === undefined) return version === undefined || LEGACY.includes(version) ? 'legacy' : null;
  const isWhole = version === MODERN && headers['mcp-method'] === method && headers['mcp-name'] === params['name'];
  return isWhole && isUsualMeta(meta) ? 'modern' : null;
}

/** What a modern client says of itself with each message, and nothing else. */
function isUsualMeta(meta: unknown): boolean {
  if (!hasOnly(meta, [`${META}protocolVersion`, `${META}clientCapabilities`, `${META}clientInfo`])) return false;
  const capabilities = meta[`${META}clientCapabilities`];
  const info = meta[`${META}clientInfo`];
  const isKnown =
    info === undefined ||
    (hasOnly(info, ['name', 'version']) && typeof info['name'] === 'string' && typeof info['version'] === 'string');
  return meta[`${META}protocolVersion`] === MODERN && hasOnly(capabilities, []) && isKnown;
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function hasOnly(value: unknown, keys: readonly string[]): value is Fields {
  return isObject(value) && Object.keys(value).every((key) => keys.includes(key));
}

/** What the era before answers in `result`, as the modern era answers it. */
export function modernResult(result: Fields, server: Fields): Fields {
  const { _meta: meta } = result;
  return {
    ...result,
    resultType: 'complete',
    _meta: { ...(isObject(meta) ? meta : {}), [`${META}serverInfo`]: server },
  };
}
