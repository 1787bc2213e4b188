/** The real SQLite. A connection belongs to the daemon that opened it; its writes meet the faults of the world. */
import { statSync, utimesSync } from 'node:fs';
import { DatabaseSync as RealDatabase, type DatabaseSyncOptions, type StatementSync } from 'node:sqlite';
import type { Host } from '../world/host.ts';
import { running, theWorld } from '../world/current.ts';
import { failOn } from '../world/disk.ts';

export { backup } from './backups/database-copy.ts';
export type { StatementSync } from 'node:sqlite';

const WRITES = /^\s*(?:insert|update|delete|replace|with\b[\s\S]*\b(?:insert|update|delete)\b|commit)/i;
const COMMIT = /^\s*commit/i;

export class DatabaseSync extends RealDatabase {
  readonly #owner: Host | null;

  constructor(file: string, options: DatabaseSyncOptions = {}) {
    super(file, options);
    this.#owner = running()?.host ?? null;
    if (this.#owner === null) return;
    this.#owner.handles.add(this);
    stampLock(file, this.#owner);
  }

  override prepare(sql: string): StatementSync {
    const statement = super.prepare(sql);
    const owner = this.#owner;
    if (owner === null || !WRITES.test(sql)) return statement;
    const isCommit = COMMIT.test(sql);
    for (const name of ['run', 'all'] as const) {
      const call = statement[name].bind(statement) as (...args: unknown[]) => unknown;
      Object.defineProperty(statement, name, {
        value: (...args: unknown[]): unknown => {
          failOn(owner, isCommit ? this : null);
          return isCommit ? theWorld().commit(owner, this, () => call(...args)) : call(...args);
        },
      });
    }
    return statement;
  }

  override close(): void {
    this.#owner?.handles.delete(this);
    if (this.isOpen) super.close();
  }
}

/** The file of a lock has the real time until its daemon touches it, and others read it. */
function stampLock(file: string, owner: Host): void {
  if (!file.endsWith('.lock')) return;
  const now = theWorld().wallOf(owner);
  if (statSync(file).mtimeMs > now + 3_600_000 * 24) utimesSync(file, now / 1_000, now / 1_000);
}
