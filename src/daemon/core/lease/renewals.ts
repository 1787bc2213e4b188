import { Failure } from '../../../domain/failure.ts';
import type { Clock } from '../../../lib/clock.ts';
import { writeLeaseTimes } from '../../../runners/process/lease-times.ts';
import { openLeaseConnection } from '../../../store/maintenance/lease-connection.ts';
import type { Followed, LeaseNews, LeaseOrder } from './lease-order.ts';
import { renewOnce, Trust } from './trust.ts';

/** Of the lease, the longest wait for an answer. */
const ANSWER_SHARE = 1 / 3;

/** Renews the lease of a daemon over a separate connection, and tells the result of each renewal. */
export class Renewals {
  readonly #trust: Trust;
  readonly #file: string;
  readonly #connection: ReturnType<typeof openLeaseConnection>;
  readonly #tell: (news: LeaseNews) => void;
  /** Null from the loss of the lease until the daemon has another name. */
  #daemonId: string | null;

  constructor({ url, leaseMs, shared, file, daemonId }: LeaseOrder, clock: Clock, tell: (news: LeaseNews) => void) {
    this.#trust = new Trust(clock, leaseMs, shared);
    this.#file = file;
    this.#connection = openLeaseConnection({ url, clock, leaseMs, answerMs: leaseMs * ANSWER_SHARE });
    this.#tell = tell;
    this.#daemonId = daemonId;
  }

  follow({ daemonId }: Followed): void {
    this.#daemonId = daemonId;
  }

  /** Never throws. Does nothing while the daemon has no lease. */
  async renew(): Promise<void> {
    const id = this.#daemonId;
    if (id === null) return;
    try {
      const renewal = await renewOnce({
        trust: this.#trust,
        renew: () => this.#connection.renew(id),
        extend: (times) => writeLeaseTimes(this.#file, times),
      });
      if (renewal === 'lost' && this.#daemonId === id) this.#daemonId = null;
      this.#tell({ daemonId: id, renewal });
    } catch (error) {
      this.#tell({ daemonId: id, failed: error instanceof Failure ? error.message : String(error) });
    }
  }
}
