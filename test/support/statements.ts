/** What a program asks its SQLite and hashes, for tests that say how much work something is. */
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { StatementSync } from 'node:sqlite';
import type { TestContext } from 'node:test';

export interface Work {
  /** The statements that ran, in their order. */
  readonly statements: string[];
  /** How long what was hashed is, in characters or bytes. */
  readonly hashed: number[];
}

/** Notes from now on, until the test ends. */
export function noteWork(t: TestContext): Work {
  const work: Work = { statements: [], hashed: [] };
  for (const method of ['all', 'run', 'get'] as const) {
    const original = StatementSync.prototype[method] as (this: StatementSync, ...parameters: unknown[]) => unknown;
    t.mock.method(StatementSync.prototype, method, function (this: StatementSync, ...parameters: unknown[]) {
      work.statements.push(this.sourceSQL);
      return original.apply(this, parameters);
    });
  }
  const { hash } = crypto;
  t.mock.method(crypto, 'hash', (algorithm: string, data: string | NodeJS.ArrayBufferView) => {
    work.hashed.push(typeof data === 'string' ? data.length : data.byteLength);
    return hash(algorithm, data);
  });
  syncBuiltinESMExports();
  t.after(() => {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  });
  return work;
}
