import findMyWay, { type HTTPMethod, type HTTPVersion, type Instance } from 'find-my-way';
import type { Caller } from '../../domain/access/caller.ts';
import { Failure } from '../../domain/failure.ts';
import { READERS } from '../../domain/access/scope.ts';
import { KeptValues } from '../../lib/caches/kept-values.ts';
import type { Authenticator } from '../../operations/access/authenticate.ts';
import type { Runtime } from '../../operations/core/invoke.ts';
import { isNone, pathFields } from '../../operations/core/http-face.ts';
import { OPERATIONS } from '../../operations/table.ts';
import { ASSETS } from '../console/assets.ts';
import { Console } from '../web/console-face.ts';
import { ACTIONS, PAGES } from '../web/pages/table.ts';
import { Pages } from '../web/routes.ts';
import { McpEndpoint } from '../mcp/endpoint.ts';
import { isApi, strippedTarget } from '../http/base-path.ts';
import { credentialsOf } from '../http/credentials.ts';
import { dataHeaders } from '../http/headers.ts';
import { type KeptAnswer, sizeOf } from './kept.ts';
import { METRICS_TYPE, metricsText } from './metrics.ts';
import { operationRoute } from './operation-route.ts';
import type { Exchange, Sender } from '../http/sender.ts';
import { Listener, type ListenerOptions } from '../http/server.ts';
import { admit } from '../http/visit.ts';
import { Streams } from './stream.ts';
import { Waits } from './waits.ts';

const API = '/api/v1';

const NOT_POST: HTTPMethod[] = ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** Longer than any URL can be, so that a malformed id of any length is refused as malformed. */
const PARAMETER_CHARS_MAX = 65_536;

export interface HttpFaceOptions extends ListenerOptions {
  readonly runtime: Runtime;
  readonly authenticator: Authenticator;
  /** Without a slash at its end; empty at the origin root. */
  readonly basePath: string;
  /** Whether browsers reach us by https only, so that the session cookie may be held back elsewhere. */
  readonly secureCookies: boolean;
  /** Under which browsers and agents reach us, if that is not an address of this machine. */
  readonly publicUrl?: string | null;
}

/** `close` also ends the streams and the waits. */
export interface HttpFace extends Pick<Listener, 'listen' | 'close' | 'release'> {
  /** The numbers of what is open now. */
  load(): {
    readonly connections: number;
    readonly streams: number;
    readonly places: number;
    readonly waits: number;
    readonly keptBytes: number;
  };
}

type Router = Instance<HTTPVersion.V1>;
type Serve = (exchange: Exchange, params: Readonly<Record<string, string | undefined>>) => Promise<void>;

interface Route {
  readonly methods: HTTPMethod[];
  readonly path: string;
  readonly serve: Serve;
}

/** The token-gated listener: the JSON API from the table, the streams, and the pages. */
export function createHttpFace(options: HttpFaceOptions): HttpFace {
  const { runtime, authenticator, basePath } = options;
  const { clock } = runtime.services;
  const listener = new Listener(options, clock, (exchange) => {
    exchange.request.url = strippedTarget(exchange.request.url ?? '', basePath);
    router ??= createRouter(routes, missing);
    return router.lookup(exchange.request, exchange.response, exchange) as Promise<void>;
  });
  const { limits, peers, sender } = listener;
  const streams = new Streams({ sender, clock, limits, authenticator });
  const waits = new Waits({ clock, limits, authenticator });
  const kept = new KeptValues<KeptAnswer>({ most: limits.keptBytes, sizeOf });
  const pages = new Pages({ ...options, peers, sender, clock });
  // Made for the first request: the library compiles each part of a path, which takes 8 ms.
  let router: Router | null = null;
  const routes: Route[] = [];
  const on = (methods: HTTPMethod[], path: string, serve: Serve): void => void routes.push({ methods, path, serve });
  const missing = (exchange: Exchange): Promise<void> =>
    isApi(exchange.request.url ?? '') ? missingOperation(authenticator, sender, exchange) : web.missing(exchange);
  for (const operation of OPERATIONS) {
    const { http } = operation;
    if (isNone(http)) continue;
    const methods: HTTPMethod[] = http.method === 'GET' ? ['GET', 'HEAD'] : [http.method];
    const serve = operationRoute(operation, http, { runtime, authenticator, limits, sender, streams, kept, waits });
    on(methods, API + http.path.replaceAll(/\{([a-z_]+)\}/g, ':$1'), serve);
    if (pathFields(http).some((name) => !(name in operation.input.shape)))
      throw new Error(`${operation.id}: a path parameter is not an input field`);
  }
  const web = new Console({ ...options, limits, sender, pages, waits });
  for (const page of PAGES) on(['GET', 'HEAD'], page.path, (exchange, params) => web.show(page, exchange, params));
  for (const action of ACTIONS) on(['POST'], action.path, (exchange, params) => web.act(action, exchange, params));
  on(['GET', 'HEAD'], '/jobs/:id/output.txt', (exchange, params) => web.output(exchange, params));
  for (const asset of ASSETS) on(['GET', 'HEAD'], asset.path, (exchange) => web.asset(asset, exchange));
  const mcp = new McpEndpoint({ ...options, limits, sender, peers, waits });
  on(['POST'], '/mcp', (exchange) => mcp.post(exchange));
  on(NOT_POST, '/mcp', (exchange) => mcp.other(exchange));
  on(['GET', 'HEAD'], '/login', (exchange) => pages.skipSignIn(exchange));
  on(['POST'], '/login', (exchange) => pages.login(exchange));
  on(['POST'], '/logout', (exchange) => pages.logout(exchange));
  on(['GET', 'HEAD'], '/metrics', async (exchange) => {
    const caller = await pages.visitor(exchange);
    if (caller === null) return;
    if (!mayRead(caller))
      sender.sendFailure(exchange, new Failure('forbidden', `The metrics need the scope ${READERS.join(' or ')}.`));
    else
      sender.send(
        exchange,
        200,
        dataHeaders(METRICS_TYPE),
        await metricsText({ services: runtime.services, sender, listener, streams, authenticator }),
      );
  });
  return {
    listen: (at) => listener.listen(at, basePath),
    release: (copy) => listener.release(copy),
    close(graceMs) {
      streams.endAll();
      waits.endAll();
      return listener.close(graceMs);
    },
    load: () => ({
      connections: listener.connections,
      streams: streams.open,
      places: streams.places,
      waits: waits.open,
      keptBytes: kept.size,
    }),
  };
}

/** Each route has one spelling: a path that differs in case or has an extra slash is another path. */
function createRouter(routes: readonly Route[], missing: (exchange: Exchange) => Promise<void>): Router {
  const router = findMyWay({
    caseSensitive: true,
    ignoreDuplicateSlashes: false,
    ignoreTrailingSlash: false,
    maxParamLength: PARAMETER_CHARS_MAX,
    querystringParser: () => ({}),
    defaultRoute(this: Exchange) {
      return missing(this);
    },
  });
  for (const { methods, path, serve } of routes)
    router.on(methods, path, function (this: Exchange, _request, _response, params) {
      return serve(this, params);
    });
  return router;
}

async function missingOperation(authenticator: Authenticator, sender: Sender, exchange: Exchange): Promise<void> {
  try {
    await admit(authenticator, exchange, credentialsOf(exchange.request), 'api');
    throw new Failure('not_found', 'There is no such route. GET /api/v1/openapi.json lists the routes.');
  } catch (error) {
    sender.sendFailure(exchange, error);
  }
}

function mayRead(caller: Caller): boolean {
  return READERS.some((scope) => caller.scopes.includes(scope));
}
