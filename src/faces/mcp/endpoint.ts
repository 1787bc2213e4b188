import { READERS } from '../../domain/access/scope.ts';
import type { Caller } from '../../domain/access/caller.ts';
import { Failure } from '../../domain/failure.ts';
import type { Authenticator } from '../../operations/access/authenticate.ts';
import type { Runtime } from '../../operations/core/invoke.ts';
import { readJson } from '../http/body.ts';
import type { Calls } from '../http/calls.ts';
import { headerValues } from '../http/credentials.ts';
import { dataHeaders, JSON_HEADERS } from '../http/headers.ts';
import type { HttpLimits } from '../http/limits.ts';
import type { Exchange, FailureFormat, Sender } from '../http/sender.ts';
import { admit } from '../http/visit.ts';
import { idOf, RPC, rpcError } from './json-rpc.ts';
import type { McpCall, Protocol } from './protocol.ts';
import { resultOf } from './result.ts';
import { type OwnNames, refuseForeignPage } from './same-site.ts';
import { inputOf } from './tools.ts';

interface McpParts extends OwnNames {
  readonly runtime: Runtime;
  readonly authenticator: Authenticator;
  readonly limits: HttpLimits;
  readonly sender: Sender;
  readonly waits: Calls;
}

/** Headers that belong to the message; the others, and with them the token, are not handed on. */
const MESSAGE_HEADERS = ['content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name'];

/** A body that is not one message of JSON-RPC. */
const UNREADABLE: FailureFormat = { headers: JSON_HEADERS, body: ({ message }) => rpcError(RPC.parse, message) };

/** It would keep a connection open for changes of the list of tools, which never changes. */
const LISTEN = 'subscriptions/listen';

/** `POST /mcp`. Refusals before the message is read are envelopes, as on every route. */
export class McpEndpoint {
  readonly #parts: McpParts;
  #protocol: Promise<Protocol> | undefined;

  constructor(parts: McpParts) {
    this.#parts = parts;
  }

  /** Never rejects. */
  async post(exchange: Exchange): Promise<void> {
    const { sender, limits } = this.#parts;
    try {
      const caller = await this.#admit(exchange);
      const body = await readJson(exchange.request, limits.bodyBytes).catch((error: unknown) => {
        sender.sendFailure(exchange, error, error instanceof Failure ? UNREADABLE : undefined);
      });
      if (body !== undefined) await this.#serve(exchange, caller, body);
    } catch (error) {
      sender.sendFailure(exchange, error);
    }
  }

  /** GET would open a stream, DELETE would end a session: there is neither. Never rejects. */
  async other(exchange: Exchange): Promise<void> {
    const { sender } = this.#parts;
    try {
      await this.#admit(exchange);
      const headers = [...JSON_HEADERS, 'Allow', 'POST'];
      sender.send(exchange, 405, headers, rpcError(RPC.refused, 'Only POST is served here: there are no sessions.'));
    } catch (error) {
      sender.sendFailure(exchange, error);
    }
  }

  /** The cookie of a browser is no credential here. Throws unauthenticated, kdf_busy and forbidden. */
  async #admit(exchange: Exchange): Promise<Caller> {
    const { request } = exchange;
    const { authenticator } = this.#parts;
    refuseForeignPage(request, this.#parts);
    const authorization = headerValues(request, 'authorization');
    const caller = await admit(authenticator, exchange, { authorization, cookie: undefined }, 'mcp');
    if (READERS.some((scope) => caller.scopes.includes(scope))) return caller;
    throw new Failure('forbidden', `MCP needs the scope ${READERS.join(' or ')}; this token has ${caller.scope}.`);
  }

  async #serve(exchange: Exchange, caller: Caller, body: Readonly<Record<string, unknown>>): Promise<void> {
    const { sender } = this.#parts;
    if (body['method'] === LISTEN) {
      sender.send(exchange, 404, JSON_HEADERS, rpcError(RPC.noMethod, 'Method not found', idOf(body)));
      return;
    }
    const protocol = await this.#load();
    const headers = Object.fromEntries(
      MESSAGE_HEADERS.flatMap((name) => {
        const values = headerValues(exchange.request, name);
        return values.length === 0 ? [] : [[name, values.join(', ')]];
      }),
    );
    const { status, text } = await protocol.serve(this.#callOf(exchange, caller), { body, headers });
    sender.send(exchange, status, text === '' ? dataHeaders() : JSON_HEADERS, text);
  }

  #callOf(exchange: Exchange, caller: Caller): McpCall {
    const { runtime, sender, waits } = this.#parts;
    return {
      caller,
      report: (error) => void sender.report(exchange, error),
      async call(tool, given) {
        const invocation = { caller, ...inputOf(tool, given) };
        const answer = await waits.call(exchange, runtime, tool.operation, invocation);
        return resultOf(answer);
      },
    };
  }

  /** The SDK takes 4 to 9 MB of memory and 35 ms to load, which a service without agents does not spend. */
  #load(): Promise<Protocol> {
    const { version } = this.#parts.runtime.services.server;
    this.#protocol ??= import('./protocol.ts').then(({ createProtocol }) => createProtocol(version));
    return this.#protocol;
  }
}
