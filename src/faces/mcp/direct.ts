/**
 * The two methods that agents call all the time, without the HTTP of the SDK: what it does to make a request and a
 * response of the web takes 140 to 210 µs, its protocol 30. The same server of the SDK reads and
 * answers the message. A message that is not clearly right has no direct route, so that the SDK refuses it.
 */
import {
  classifyInboundRequest,
  isJSONRPCRequest,
  type JSONRPCMessage,
  type JSONRPCRequest,
  PerRequestHTTPServerTransport,
  type Server,
  SUPPORTED_PROTOCOL_VERSIONS,
  type Transport,
} from '@modelcontextprotocol/server';
import type { McpMessage } from './json-rpc.ts';

/** The revision of the era without `initialize`. */
const MODERN = '2026-07-28';
export const PROTOCOL_VERSIONS: readonly string[] = [...SUPPORTED_PROTOCOL_VERSIONS, MODERN];

const METHODS = ['tools/call', 'tools/list'];

interface DirectRoute {
  readonly message: JSONRPCRequest;
  readonly era: 'legacy' | 'modern';
}

/** Null for what the SDK has to look at as a whole. */
export function directRoute({ body, headers }: McpMessage): DirectRoute | null {
  if (!isJSONRPCRequest(body) || !METHODS.includes(body.method) || headers['content-type'] === undefined) return null;
  const version = headers['mcp-protocol-version'];
  if (body.params?.['_meta'] === undefined) {
    const known = version === undefined || SUPPORTED_PROTOCOL_VERSIONS.includes(version);
    return known ? { message: body, era: 'legacy' } : null;
  }
  const method = headers['mcp-method'];
  const name = headers['mcp-name'];
  if (version !== MODERN || method !== body.method || name !== body.params['name']) return null;
  const outcome = classifyInboundRequest({
    httpMethod: 'POST',
    body,
    protocolVersionHeader: version,
    mcpMethodHeader: method,
    ...(name === undefined ? {} : { mcpNameHeader: name }),
  });
  if (outcome.kind !== 'modern' || outcome.classification.revision !== MODERN) return null;
  return { message: body, era: 'modern' };
}

/** The answer of a server that is connected to nothing yet. */
export async function answerDirectly(server: Server, { message, era }: DirectRoute): Promise<JSONRPCMessage> {
  const { promise, resolve } = Promise.withResolvers<JSONRPCMessage>();
  const transport: Transport =
    era === 'modern'
      ? new ModernExchange(resolve)
      : {
          start: () => Promise.resolve(),
          close: () => Promise.resolve(),
          send: (sent) => Promise.resolve(resolve(sent)),
        };
  await server.connect(transport);
  transport.onmessage?.(message, era === 'modern' ? { classification: CLASSIFICATION } : undefined);
  return promise;
}

const CLASSIFICATION = { era: 'modern', revision: MODERN } as const;

/** A server knows the modern era by the class of its transport. */
class ModernExchange extends PerRequestHTTPServerTransport {
  readonly #answer: (message: JSONRPCMessage) => void;

  constructor(answer: (message: JSONRPCMessage) => void) {
    super({ classification: CLASSIFICATION });
    this.#answer = answer;
  }

  override send(message: JSONRPCMessage): Promise<void> {
    this.#answer(message);
    return Promise.resolve();
  }
}
