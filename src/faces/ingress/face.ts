import { Failure } from '../../domain/failure.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Runtime } from '../../operations/core/invoke.ts';
import { HTTP_LIMITS, type HttpLimits } from '../http/limits.ts';
import { Peers } from '../http/peers.ts';
import { type Exchange, type FaceLog, Sender } from '../http/sender.ts';
import { closeServer, createLimitedServer, type Listening, listenOn } from '../http/server.ts';
import { DecisionRoutes } from './decision-routes.ts';
import { type HookLimits, HookRoutes } from './hook-routes.ts';
import { MessageReader, type ReaderLimits } from '../../reaction/message/message-reader.ts';

export interface IngressFaceOptions {
  readonly runtime: Runtime;
  readonly log: FaceLog;
  readonly clock?: Clock;
  /** Who is behind a connection; by default no proxy is trusted. */
  readonly peers?: Peers;
  /** For tests, which can not wait for the real ones. */
  readonly limits?: Partial<HttpLimits>;
  readonly hookLimits?: HookLimits;
  readonly readerLimits?: ReaderLimits;
}

export interface IngressFace {
  /** Rejects with the operating system's error, which has a `code` such as EADDRINUSE. */
  listen(at: { readonly host: string; readonly port: number }): Promise<Listening>;
  /** Stops accepting and lets requests finish for `graceMs` milliseconds. May be called twice, or first. */
  close(graceMs: number): Promise<void>;
}

/** The loopback listener for hooks and decision links, at the origin root: it has no base path. */
export function createIngressFace({
  runtime,
  log,
  clock = runtime.services.clock,
  peers = new Peers(),
  limits: given,
  hookLimits,
  readerLimits,
}: IngressFaceOptions): IngressFace {
  const limits = { ...HTTP_LIMITS, ...given };
  const sender = new Sender(limits, clock, log, peers);
  const decisions = new DecisionRoutes(runtime, sender);
  const reader = new MessageReader(clock, runtime.services.reaction.turns, readerLimits);
  const hooks = new HookRoutes(runtime, sender, peers, reader, hookLimits);
  const server = createLimitedServer(limits, peers, (request, response) => void route({ request, response }));
  let closed: Promise<void> | null = null;
  return {
    listen: (at) => listenOn(server, at, ''),
    close(graceMs) {
      sender.closing = true;
      closed ??= closeServer(server, clock, graceMs).then(() => reader.close());
      return closed;
    },
  };

  async function route(exchange: Exchange): Promise<void> {
    if ((await hooks.serve(exchange)) || (await decisions.serve(exchange))) return;
    sender.sendFailure(exchange, new Failure('not_found', 'There is no such hook or approval.'));
  }
}
