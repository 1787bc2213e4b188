import { Failure } from '../../domain/failure.ts';
import type { Clock } from '../../lib/clock.ts';
import { clientDb, types } from '../engine/postgres/client.ts';
import { Connections } from '../engine/postgres/connections.ts';
import { Dialer } from '../engine/postgres/dial.ts';
import { POSTGRES } from '../engine/postgres/postgres.ts';
import { renewLease } from './leases.ts';

/** The connection over which a lease is renewed, apart from those of the store. */
interface LeaseConnection {
  /** False when the lease had run out or was taken. Throws unavailable while the server does not answer. */
  renew(daemonId: string): Promise<boolean>;
}

interface LeaseConnectionOptions {
  readonly url: string;
  readonly clock: Clock;
  readonly leaseMs: number;
  /** How long an answer may take. */
  readonly answerMs: number;
}

/** It connects when it is used, and again after each failure. */
export function openLeaseConnection({ url, clock, leaseMs, answerMs }: LeaseConnectionOptions): LeaseConnection {
  const session = { types, query_timeout: answerMs, statement_timeout: answerMs };
  const connections = new Connections(new Dialer(url, answerMs), clock, { max: 1, waitMs: answerMs, session });
  return {
    async renew(daemonId) {
      try {
        const { client, release } = await connections.take();
        let isWhole = false;
        try {
          const held = await renewLease({ db: clientDb(POSTGRES, client), dialect: POSTGRES }, daemonId, leaseMs);
          isWhole = true;
          return held;
        } finally {
          // One that failed may still wait for its answer: the next renewal must not wait behind it.
          release(!isWhole);
        }
      } catch {
        throw new Failure('unavailable', 'The store cannot be reached: the lease was not renewed.');
      }
    },
  };
}
