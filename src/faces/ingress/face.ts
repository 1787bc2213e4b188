import { Failure } from '../../domain/failure.ts';
import { type Clock, systemClock } from '../../lib/clock.ts';
import { HTTP_LIMITS, type HttpLimits } from '../http/limits.ts';
import { type FaceLog, Sender } from '../http/sender.ts';
import { closeServer, createLimitedServer, type Listening, listenOn } from '../http/server.ts';

export interface IngressFaceOptions {
  readonly log: FaceLog;
  readonly clock?: Clock;
  /** For tests, which can not wait for the real ones. */
  readonly limits?: Partial<HttpLimits>;
}

export interface IngressFace {
  /** Rejects with the operating system's error, which has a `code` such as EADDRINUSE. */
  listen(at: { readonly host: string; readonly port: number }): Promise<Listening>;
  /** Stops accepting and lets requests finish for `graceMs` milliseconds. May be called twice, or first. */
  close(graceMs: number): Promise<void>;
}

/** The loopback listener for hooks and decision links. It has neither a base path nor, so far, a route. */
export function createIngressFace({ log, clock = systemClock, limits: given }: IngressFaceOptions): IngressFace {
  const limits = { ...HTTP_LIMITS, ...given };
  const sender = new Sender(limits, clock, log);
  const server = createLimitedServer(limits, (request, response) => {
    sender.sendFailure({ request, response }, new Failure('not_found', 'There is no such hook or approval.'));
  });
  let closed: Promise<void> | null = null;
  return {
    listen: (at) => listenOn(server, at, ''),
    close(graceMs) {
      sender.closing = true;
      closed ??= closeServer(server, clock, graceMs);
      return closed;
    },
  };
}
