import { Failure } from '../../domain/failure.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Runtime } from '../../operations/core/invoke.ts';
import type { Exchange } from '../http/sender.ts';
import { Listener, type ListenerOptions } from '../http/server.ts';
import { DecisionRoutes } from './decision-routes.ts';
import { type HookLimits, HookRoutes } from './hook-routes.ts';
import { MessageReader, type ReaderLimits } from '../../reaction/message/message-reader.ts';

export interface IngressFaceOptions extends ListenerOptions {
  readonly runtime: Runtime;
  readonly clock?: Clock;
  readonly hookLimits?: HookLimits;
  readonly readerLimits?: ReaderLimits;
  /** Where the console is, with its base path; without one no page links to it. */
  readonly consoleUrl?: string;
}

type IngressFace = Pick<Listener, 'listen' | 'close' | 'release'>;

/** The loopback listener for hooks and decision links, at the origin root, without a base path. */
export function createIngressFace(options: IngressFaceOptions): IngressFace {
  const { runtime, clock = runtime.services.clock, hookLimits, readerLimits } = options;
  const { consoleUrl = null } = options;
  const listener = new Listener(options, clock, route);
  const { peers, sender } = listener;
  const decisions = new DecisionRoutes(runtime, sender, consoleUrl);
  const reader = new MessageReader(clock, runtime.services.reaction.turns, readerLimits);
  const hooks = new HookRoutes(runtime, sender, peers, reader, hookLimits);
  return {
    listen: (at) => listener.listen(at),
    release: (copy) => listener.release(copy),
    close: (graceMs) => listener.close(graceMs).then(() => reader.close()),
  };

  async function route(exchange: Exchange): Promise<void> {
    if ((await hooks.serve(exchange)) || (await decisions.serve(exchange))) return;
    sender.sendFailure(exchange, new Failure('not_found', 'There is no such hook or approval.'));
  }
}
