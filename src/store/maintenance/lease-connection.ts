import { Failure } from '../../domain/failure.ts';
import { clientDb, openPool } from '../engine/postgres/client.ts';
import { POSTGRES } from '../engine/postgres/postgres.ts';
import { renewLease } from './daemons.ts';

/** The connection over which a lease is renewed, apart from those of the store. */
interface LeaseConnection {
  /** False when the lease had run out or was taken. Throws unavailable while the server does not answer. */
  renew(daemonId: string): Promise<boolean>;
}

/** It connects when it is used, and again after each failure. An answer takes `answerMs` milliseconds at most. */
export function openLeaseConnection(url: string, leaseMs: number, answerMs: number): LeaseConnection {
  const pool = openPool({
    connectionString: url,
    max: 1,
    idleTimeoutMillis: 0,
    connectionTimeoutMillis: answerMs,
    query_timeout: answerMs,
    statement_timeout: answerMs,
  });
  return {
    async renew(daemonId) {
      try {
        const client = await pool.connect();
        let isWhole = false;
        try {
          const held = await renewLease({ db: clientDb(POSTGRES, client), dialect: POSTGRES }, daemonId, leaseMs);
          isWhole = true;
          return held;
        } finally {
          // One that failed may still wait for its answer: the next renewal must not wait behind it.
          client.release(!isWhole);
        }
      } catch {
        throw new Failure('unavailable', 'The store cannot be reached: the lease was not renewed.');
      }
    },
  };
}
