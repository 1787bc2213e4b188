import { Resolver } from 'node:dns/promises';
import { type Clock, pause } from '../lib/clock.ts';
import { errorCode } from '../lib/error-code.ts';
import { type Resolve, isUnknownName } from './resolve.ts';

interface NameServerLimits {
  /** The first question to each name server, in milliseconds; the next round waits twice as long. */
  readonly timeoutMs: number;
  readonly tries: number;
  /** All questions together: with several silent name servers they would take longer. */
  readonly totalMs: number;
}

/** Once one family has addresses, the other has this time: some name servers never answer for IPv6. */
const OTHER_FAMILY_MS = 250;
/** A resolver reads the name servers of the machine once, so that none is used for ever. */
const USES_MAX = 1_000;
/** No name server has answered; what is known of them may be out of date. */
const SILENT = ['ETIMEOUT', 'ECONNREFUSED', 'ECANCELLED'];

/**
 * Queries the name servers directly: the hosts file and the search list are not part of the public name space.
 * Questions at the same time share a resolver, and none waits for another. `servers` replaces those of the machine in
 * tests.
 */
export function nameServers(clock: Clock, limits: NameServerLimits, servers?: readonly string[]): Resolve {
  let current: SharedResolver | null = null;
  return async (name, signal) => {
    signal.throwIfAborted();
    if (current?.isUsable !== true) current = new SharedResolver(limits, servers);
    const used = current;
    used.begin();
    const ended = Promise.withResolvers<never>();
    const end = (): void => ended.reject(signal.reason);
    signal.addEventListener('abort', end);
    const stopTimer = clock.after(limits.totalMs, () => ended.reject(used.timeOut()));
    try {
      return await Promise.race([used.ask(name, clock), ended.promise]);
    } finally {
      stopTimer();
      signal.removeEventListener('abort', end);
      used.end();
    }
  };
}

class SharedResolver {
  readonly #resolver: Resolver;
  #uses = 0;
  #active = 0;
  #isSilent = false;

  constructor({ timeoutMs, tries }: NameServerLimits, servers: readonly string[] | undefined) {
    this.#resolver = new Resolver({ timeout: timeoutMs, tries });
    if (servers !== undefined) this.#resolver.setServers(servers);
  }

  get isUsable(): boolean {
    return this.#active > 0 && this.#uses < USES_MAX && !this.#isSilent;
  }

  begin(): void {
    this.#uses += 1;
    this.#active += 1;
  }

  /** The last question has ended or was given up: none stays open. */
  end(): void {
    this.#active -= 1;
    if (this.#active === 0) this.#resolver.cancel();
  }

  timeOut(): Error {
    this.#isSilent = true;
    return Object.assign(new Error('the name servers did not answer'), { code: 'ETIMEOUT' });
  }

  async ask(name: string, clock: Clock): Promise<readonly string[]> {
    const found: string[] = [];
    const failed: unknown[] = [];
    const add = async (answer: Promise<readonly string[]>): Promise<void> => {
      try {
        found.push(...(await answer));
      } catch (error) {
        failed.push(error);
        throw error;
      }
    };
    const families = [add(this.#resolver.resolve4(name)), add(this.#resolver.resolve6(name))];
    const all = Promise.allSettled(families);
    await Promise.any(families).catch(() => undefined);
    await (found.length > 0 ? this.#otherFamily(all, clock) : all);
    if (found.length > 0) return found;
    this.#isSilent ||= failed.some((error) => SILENT.includes(errorCode(error) ?? ''));
    throw failed.find((error) => !isUnknownName(errorCode(error))) ?? failed[0] ?? new Error('no address');
  }

  async #otherFamily(all: Promise<unknown>, clock: Clock): Promise<void> {
    const over = new AbortController();
    await Promise.race([all, pause(clock, OTHER_FAMILY_MS, over.signal)]);
    over.abort();
  }
}
