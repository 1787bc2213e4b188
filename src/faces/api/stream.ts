import type { Caller } from '../../domain/access/caller.ts';
import { Failure } from '../../domain/failure.ts';
import { type Clock, pause } from '../../lib/clock.ts';
import { Shares } from '../../lib/flow/shares.ts';
import type { Authenticator } from '../../operations/access/authenticate.ts';
import type { Operation } from '../../operations/core/operation.ts';
import type { StreamEvent } from '../../operations/core/reply.ts';
import { STREAM_HEADERS } from '../http/headers.ts';
import type { HttpLimits } from '../http/limits.ts';
import { PatientWriter } from '../http/patient-writer.ts';
import { Progress, STALLED_LOOKS } from './progress.ts';
import type { Exchange, Sender } from '../http/sender.ts';

/** Interval of TCP keep-alive probes on an idle connection, to detect a client that is gone. */
export const KEEP_ALIVE_PROBE_MS = 5_000;

export interface StreamParts {
  readonly sender: Sender;
  readonly clock: Clock;
  readonly limits: HttpLimits;
  readonly authenticator: Authenticator;
}

/** The open streams of server-sent events of this process, counted per operation. */
export class Streams {
  readonly #parts: StreamParts;
  readonly #shares = new Map<string, Shares>();
  readonly #open = new Set<AbortController>();

  constructor(parts: StreamParts) {
    this.#parts = parts;
  }

  get open(): number {
    return this.#open.size;
  }

  /** Taken places. Equals the number of open streams, else a place has leaked. */
  get places(): number {
    return [...this.#shares.values()].reduce((sum, each) => sum + each.used, 0);
  }

  /** Ends all of them; each can be resumed elsewhere. */
  endAll(): void {
    for (const stream of this.#open) stream.abort();
  }

  /** Takes a place for the caller's owner; the result releases it. Throws streams_over_cap. */
  admit(operation: Operation, caller: Caller): () => void {
    const { all, perHolder: usual } = this.#parts.limits.streams;
    const perHolder = ('streamsPerOwner' in operation ? operation.streamsPerOwner : undefined) ?? usual;
    let shares = this.#shares.get(operation.id);
    if (shares === undefined) {
      shares = new Shares({ all, perHolder });
      this.#shares.set(operation.id, shares);
    }
    const release = shares.take(caller.owner);
    if (release !== null) return release;
    throw new Failure(
      'streams_over_cap',
      shares.held(caller.owner) < perHolder
        ? `This daemon serves at most ${all} streams of this kind, and all of them are in use.`
        : `One owner may have at most ${perHolder} streams of this kind open.`,
    );
  }

  /**
   * Sends events until they end, the client disconnects or reads no more, the credential or the time ends, or the
   * listener stops. Never rejects.
   */
  async serve(
    exchange: Exchange,
    caller: Caller,
    events: (signal: AbortSignal) => AsyncIterable<StreamEvent>,
  ): Promise<void> {
    const { sender, clock, limits } = this.#parts;
    const { request, response, visit } = exchange;
    visit.detach();
    const stop = new AbortController();
    this.#open.add(stop);
    response.on('close', () => stop.abort());
    request.socket.setKeepAlive(true, KEEP_ALIVE_PROBE_MS);
    sender.begin(exchange, 200, STREAM_HEADERS);
    const writer = new PatientWriter(response, clock, limits, stop.signal);
    const progress = new Progress(request.socket);
    const timers = [
      pause(clock, limits.streams.lifetimeMs, stop.signal),
      every(clock, limits.heartbeatMs, stop.signal, () => writer.write(': still here\n\n')),
      every(clock, limits.stalledMs / STALLED_LOOKS, stop.signal, async () => progress.look()),
      every(clock, limits.revalidateMs, stop.signal, () => this.#parts.authenticator.stillValid(caller)),
    ];
    for (const timer of timers)
      timer.then(
        () => stop.abort(),
        () => stop.abort(),
      );
    try {
      for await (const event of events(stop.signal)) {
        if (stop.signal.aborted || !(await writer.write(format(event)))) break;
      }
    } catch (error) {
      sender.report(exchange, error);
    } finally {
      stop.abort();
      writer.end();
      this.#open.delete(stop);
    }
  }
}

/** Calls `tick` repeatedly until it returns false, throws, or `signal` aborts. */
export async function every(
  clock: Clock,
  ms: number,
  signal: AbortSignal,
  tick: () => Promise<boolean>,
): Promise<void> {
  while ((await pause(clock, ms, signal)) && (await tick()));
}

function format({ event, id, data }: StreamEvent): string {
  // Encoded JSON has no line break, so one data line holds it.
  return `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}
