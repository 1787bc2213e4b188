import { AsyncLocalStorage } from 'node:async_hooks';

/** The token, webhook or peer that the work of a request is done for. It may change while the request is served. */
export interface Holder {
  readonly holder: string;
  /** Resolves when it is its turn to continue; rejects when no one waits for the rest of the work. */
  next(): Promise<void>;
}

const holders = new AsyncLocalStorage<Holder | undefined>();

/** Runs `work`; what it waits for, it waits for in the name of `holder`. */
export function inNameOf<T>(holder: Holder, work: () => T): T {
  return holders.run(holder, work);
}

/** For work that the requests of others wait for as well, such as a transaction or a shared read: no one's alone. */
export function inNoName<T>(work: () => T): T {
  return holders.run(undefined, work);
}

/** Undefined for what the program does by itself. */
export function currentHolder(): Holder | undefined {
  return holders.getStore();
}
