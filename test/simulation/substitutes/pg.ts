import { EventEmitter } from 'node:events';
import { Client as RealClient, type ClientConfig } from 'pg';
import { theGate } from '../stores/postgres/gate.ts';
import { running } from '../world/current.ts';

export * from 'pg';

/** The real driver. What a daemon sends passes the gate of the world, which also keeps the limits of time. */
export class Client extends RealClient {
  constructor(config: ClientConfig) {
    const who = running();
    super(who === null ? config : withoutLimits(config));
    if (who === null) return;
    const limits = [config.lock_timeout, config.statement_timeout].map(Number).filter((ms) => ms > 0);
    theGate().adopt({
      client: this,
      who,
      limits: {
        lockMs: Math.min(...limits),
        idleMs: config.idle_in_transaction_session_timeout ?? Number.POSITIVE_INFINITY,
      },
      real: {
        connect: (done) => super.connect(done),
        end: () => super.end(),
        emit: (name, args) => EventEmitter.prototype.emit.call(this, name, ...args),
        query: (query, answer) => super.query(query, answer),
      },
    });
  }
}

/** Those of the real time would end a statement on a slow machine, and none on a fast one. */
function withoutLimits(config: ClientConfig): ClientConfig {
  return {
    ...config,
    connectionTimeoutMillis: 0,
    statement_timeout: false,
    query_timeout: 0,
    lock_timeout: 0,
    idle_in_transaction_session_timeout: 0,
  };
}
