import type { Client } from 'pg';
import type { Clock } from '../../../lib/clock.ts';
import { FairPlaces } from '../../../lib/flow/fair-places.ts';
import { ConnectFault, type Dialer, type SessionConfig } from './dial.ts';

interface ConnectionsOptions {
  /** Connections that are open at a time. */
  readonly max: number;
  /** How long an unused one stays open, in milliseconds; without it, until the end. */
  readonly idleMs?: number;
  /** How long a caller waits for a free one, in milliseconds. */
  readonly waitMs: number;
  readonly session: SessionConfig;
}

/** A connection for one caller. */
interface Lent {
  readonly client: Client;
  /** To be called once. One that is `isBroken` is closed. */
  readonly release: (isBroken?: boolean) => void;
}

interface Idle {
  readonly client: Client;
  readonly stay: () => void;
}

/**
 * Connections to a database, opened when they are needed and kept for the next caller. They are given to holders in
 * turn: with one queue for all, the many requests of one token would have those of others wait for each of them.
 */
export class Connections {
  readonly #dialer: Dialer;
  readonly #clock: Clock;
  readonly #options: ConnectionsOptions;
  readonly #places: FairPlaces;
  readonly #open = new Set<Client>();
  #idle: Idle[] = [];
  #ended: Promise<void> | null = null;

  constructor(dialer: Dialer, clock: Clock, options: ConnectionsOptions) {
    this.#dialer = dialer;
    this.#clock = clock;
    this.#options = options;
    this.#places = new FairPlaces(options.max);
  }

  /** The connections that are open. */
  get open(): Iterable<Client> {
    return this.#open;
  }

  /** Throws ConnectFault, also when no connection is free in time, and at once after `end`. */
  async take(): Promise<Lent> {
    this.#refuseEnded();
    const leave = await this.#places.enter(this.#clock, this.#options.waitMs, late);
    try {
      const client = this.#takeIdle() ?? (await this.#dial());
      return {
        client,
        release: (isBroken = false) => {
          this.#giveBack(client, isBroken);
          leave();
        },
      };
    } catch (error) {
      leave();
      throw error;
    }
  }

  async use<T>(body: (client: Client) => Promise<T>): Promise<T> {
    const { client, release } = await this.take();
    try {
      return await body(client);
    } finally {
      release();
    }
  }

  /** Resolves when all are given back and closed. May be called twice. */
  end(): Promise<void> {
    return (this.#ended ??= this.#endAll());
  }

  #refuseEnded(): void {
    if (this.#ended !== null) throw new ConnectFault('the store is closed');
  }

  #takeIdle(): Client | undefined {
    // The end may have come while the caller waited for its place.
    this.#refuseEnded();
    const last = this.#idle.pop();
    last?.stay();
    return last?.client;
  }

  async #dial(): Promise<Client> {
    const { client } = await this.#dialer.connect(this.#options.session);
    this.#open.add(client);
    const lost = (): void => {
      this.#open.delete(client);
      this.#idle = this.#idle.filter((each) => each.client !== client);
    };
    client.once('error', lost).once('end', lost);
    return client;
  }

  #giveBack(client: Client, isBroken: boolean): void {
    if (!this.#open.has(client)) return;
    if (isBroken) return void this.#close(client);
    const { idleMs } = this.#options;
    const close = (): void => {
      this.#idle = this.#idle.filter((each) => each.client !== client);
      void this.#close(client);
    };
    this.#idle.push({ client, stay: idleMs === undefined ? () => undefined : this.#clock.after(idleMs, close) });
  }

  async #close(client: Client): Promise<void> {
    this.#open.delete(client);
    await client.end().catch(() => undefined);
  }

  async #endAll(): Promise<void> {
    const places: (() => void)[] = [];
    while (places.length < this.#options.max)
      places.push(await new Promise<() => void>((resolve) => void this.#places.request('the end', resolve)));
    // Callers that still wait get a place, and with it the refusal.
    for (const leave of places) leave();
    for (const { stay } of this.#idle) stay();
    this.#idle = [];
    await Promise.all([...this.#open].map((client) => this.#close(client)));
  }
}

const late = (): Error => new ConnectFault('no connection became free in time');
