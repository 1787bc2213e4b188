import { AsyncLocalStorage } from 'node:async_hooks';

/** The token, webhook or peer that the work of a request is done for. It may change while the request is served. */
export interface Holder {
  readonly holder: string;
  /** Resolves when it is its turn to continue. */
  next(): Promise<void>;
}

const holders = new AsyncLocalStorage<Holder>();

/** Runs `work`; what it waits for, it waits for in the name of `holder`. */
export function inNameOf<T>(holder: Holder, work: () => T): T {
  return holders.run(holder, work);
}

/** Undefined for what the program does by itself. */
export function currentHolder(): Holder | undefined {
  return holders.getStore();
}
