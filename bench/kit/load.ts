import { runChild } from './child.ts';
import type { HttpRequest } from './http-client.ts';

export interface LoadOrder {
  /** Each one that is sent has another number in the places of FRESH. */
  readonly request: HttpRequest;
  readonly clients: number;
  readonly durationMs: number;
  /** Requests of this first time, in milliseconds, are not counted. */
  readonly warmUpMs?: number;
  /** Ends after this number of requests, if the duration does not end it before. */
  readonly count?: number;
}

export interface LoadResult {
  readonly requests: number;
  readonly statuses: Readonly<Record<string, number>>;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** Runs the load from a separate process. Throws when an answer had another status than `expected`. */
export async function load(order: LoadOrder, expected: number): Promise<LoadResult> {
  const result = await runChild<LoadResult>('load.ts', order);
  const others = Object.keys(result.statuses).filter((status) => status !== String(expected));
  if (others.length > 0)
    throw new Error(`${order.request.url} answered ${JSON.stringify(result.statuses)}, expected ${expected}`);
  return result;
}
