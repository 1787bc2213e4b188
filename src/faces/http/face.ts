import type { Socket } from 'node:net';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Caller } from '../../domain/caller.ts';
import { Failure } from '../../domain/failure.ts';
import { READERS } from '../../domain/scope.ts';
import type { Authenticator } from '../../operations/authenticate.ts';
import type { Home } from '../../operations/invoke.ts';
import { isNone, pathFields } from '../../operations/operation.ts';
import { OPERATIONS } from '../../operations/table.ts';
import { Pages } from '../web/pages.ts';
import { isApi, strippedTarget } from './base-path.ts';
import { credentialsOf } from './credentials.ts';
import { DATA_HEADERS } from './headers.ts';
import { KeptAnswers } from './kept.ts';
import { HTTP_LIMITS, type HttpLimits } from './limits.ts';
import { METRICS_TYPE, metricsText } from './metrics.ts';
import { operationRoute } from './operation-route.ts';
import { Peers } from './peers.ts';
import { type Exchange, type FaceLog, Sender } from './sender.ts';
import { closeServer, createLimitedServer, type Listening, listenOn } from './server.ts';
import { Streams } from './stream.ts';
import { Waits } from './waits.ts';

export type { Listening } from './server.ts';

const API = '/api/v1';

/** Longer than any URL can be: a malformed id is told to be malformed, however long it is. */
const PARAMETER_CHARS_MAX = 65_536;

export interface HttpFaceOptions {
  readonly home: Home;
  readonly authenticator: Authenticator;
  /** Without a slash at its end; empty at the origin root. */
  readonly basePath: string;
  /** Whether browsers reach us by https only, so that the session cookie may be held back elsewhere. */
  readonly secureCookies: boolean;
  readonly log: FaceLog;
  /** Who is behind a connection; by default no proxy is trusted. */
  readonly peers?: Peers;
  /** For tests, which can not wait for the real ones. */
  readonly limits?: Partial<HttpLimits>;
}

export interface HttpFace {
  /** Rejects with the operating system's error, which has a `code` such as EADDRINUSE. */
  listen(at: { readonly host: string; readonly port: number }): Promise<Listening>;
  /**
   * Stops accepting, ends the streams, lets other requests finish for `graceMs` milliseconds. May be called twice, or
   * first.
   */
  close(graceMs: number): Promise<void>;
  /** What is open at the moment. */
  load(): {
    readonly connections: number;
    readonly streams: number;
    readonly places: number;
    readonly waits: number;
    readonly keptBytes: number;
  };
}

type Serve = (exchange: Exchange, params: Readonly<Record<string, string | undefined>>) => Promise<void>;

/** The token-gated listener: the JSON API from the table, the streams, and the pages. */
export function createHttpFace(options: HttpFaceOptions): HttpFace {
  const { home, authenticator, log, basePath, peers = new Peers() } = options;
  const limits = { ...HTTP_LIMITS, ...options.limits };
  const { clock, server: about } = home.services;
  const sender = new Sender(limits, clock, log, peers);
  const streams = new Streams({ sender, clock, limits, authenticator });
  const waits = new Waits({ clock, limits, authenticator });
  const kept = new KeptAnswers(limits.keptBytes);
  const pages = new Pages({ ...options, peers, sender, clock, version: about.version });
  const router = createRouter(basePath, (exchange) =>
    isApi(exchange.request.url ?? '') ? missingOperation(authenticator, sender, exchange) : pages.missing(exchange),
  );
  for (const operation of OPERATIONS) {
    const { http } = operation;
    if (isNone(http)) continue;
    const methods = http.method === 'GET' ? ['GET', 'HEAD'] : [http.method];
    const serve = operationRoute(operation, http, { home, authenticator, limits, sender, streams, kept, waits });
    addRoute(router, methods, API + http.path.replaceAll(/\{([a-z_]+)\}/g, ':$1'), serve);
    if (pathFields(http).some((name) => !(name in operation.input.shape)))
      throw new Error(`${operation.id}: a path parameter is no input field`);
  }
  addRoute(router, ['GET', 'HEAD'], '/', (exchange) => pages.dashboard(exchange));
  addRoute(router, ['POST'], '/login', (exchange) => pages.login(exchange));
  addRoute(router, ['POST'], '/logout', (exchange) => pages.logout(exchange));
  addRoute(router, ['GET', 'HEAD'], '/metrics', async (exchange) => {
    const caller = await pages.visitor(exchange);
    if (caller === null) return;
    if (!mayRead(caller))
      sender.sendFailure(exchange, new Failure('forbidden', `The metrics need the scope ${READERS.join(' or ')}.`));
    else
      sender.send(
        exchange,
        200,
        [...DATA_HEADERS, 'Content-Type', METRICS_TYPE, 'Cache-Control', 'no-store'],
        metricsText({ services: home.services, sender, streams, authenticator }),
      );
  });
  const server = createLimitedServer(limits, peers, (request, response) => router.routing(request, response));
  const connections = new Set<Socket>();
  server.on('connection', (socket) => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
  });
  let closed: Promise<void> | null = null;
  return {
    async listen(at) {
      await router.ready();
      return listenOn(server, at, basePath);
    },
    close(graceMs) {
      sender.closing = true;
      streams.endAll();
      waits.endAll();
      closed ??= closeServer(server, clock, graceMs).then(() => router.close());
      return closed;
    },
    load: () => ({
      connections: connections.size,
      streams: streams.open,
      places: streams.places,
      waits: waits.open,
      keptBytes: kept.bytes,
    }),
  };
}

/**
 * Fastify finds the route; we answer. Everything happens in the first hook, before Fastify would look at the body,
 * so that a refused request has none of it read, and no answer comes from anywhere but us.
 */
function createRouter(basePath: string, missing: (exchange: Exchange) => Promise<void>): FastifyInstance {
  const router = fastify({
    rewriteUrl: (request) => strippedTarget(request.url ?? '', basePath),
    // A closing listener still answers what reaches it, in envelopes.
    return503OnClosing: false,
    // No route has a schema for Fastify: its compilers, never called, were a tenth of a profiled start and 5 MB.
    schemaController: { compilersFactory: { buildValidator: unreachable, buildSerializer: unreachable } },
    frameworkErrors: (_error, request, reply) => serveBy(missing, request, reply),
    routerOptions: {
      // One spelling for each route: what differs by case or by a slash too many is another path.
      caseSensitive: true,
      ignoreDuplicateSlashes: false,
      ignoreTrailingSlash: false,
      maxParamLength: PARAMETER_CHARS_MAX,
      querystringParser: () => ({}),
    },
  });
  router.addHook('onRequest', (request, reply, done) => {
    if (request.is404) serveBy(missing, request, reply);
    else done();
  });
  router.setNotFoundHandler(unreachable);
  return router;
}

function addRoute(router: FastifyInstance, methods: string[], url: string, serve: Serve): void {
  const onRequest = (request: FastifyRequest, reply: FastifyReply): void => serveBy(serve, request, reply);
  router.route({ method: methods, url, exposeHeadRoute: false, onRequest, handler: unreachable });
}

function serveBy(serve: Serve, request: FastifyRequest, reply: FastifyReply): void {
  reply.hijack();
  void serve({ request: request.raw, response: reply.raw }, request.params as Record<string, string | undefined>);
}

function unreachable(): never {
  throw new Error('every request is answered in the first hook');
}

async function missingOperation(authenticator: Authenticator, sender: Sender, exchange: Exchange): Promise<void> {
  try {
    await authenticator.authenticate(credentialsOf(exchange.request), 'api');
    throw new Failure('not_found', 'There is no such route. GET /api/v1/openapi.json describes those that exist.');
  } catch (error) {
    sender.sendFailure(exchange, error);
  }
}

function mayRead(caller: Caller): boolean {
  return READERS.some((scope) => caller.scopes.includes(scope));
}
