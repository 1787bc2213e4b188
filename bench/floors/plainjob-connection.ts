/**
 * The connection that plainjob wants, on node:sqlite: plainjob itself knows only better-sqlite3, a native module with
 * an install script, and Bun.
 */
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import type { Connection } from 'plainjob';

type Work = (...args: unknown[]) => unknown;

/** Opens `file` with the durability of our store. plainjob asks for synchronous=NORMAL, which is not followed. */
export function plainjobConnection(file: string): Connection {
  const db = new DatabaseSync(file);
  db.exec('pragma journal_mode = wal; pragma synchronous = full');
  return {
    driver: 'better-sqlite3',
    filename: file,
    pragma: (text) => {
      if (!text.startsWith('synchronous')) db.exec(`pragma ${text}`);
    },
    exec: (sql) => db.exec(sql),
    prepare: (sql) => {
      const statement = db.prepare(sql);
      return {
        run: (...params: SQLInputValue[]) => {
          const { changes, lastInsertRowid } = statement.run(...params);
          return { changes: Number(changes), lastInsertRowid };
        },
        get: (...params: SQLInputValue[]) => statement.get(...params),
        all: (...params: SQLInputValue[]) => statement.all(...params),
      };
    },
    transaction: transactions(db),
    close: () => db.close(),
  };
}

/** Wraps work into a transaction, which begins immediately in each of the two forms that plainjob calls. */
function transactions(db: DatabaseSync) {
  const begin = db.prepare('begin immediate');
  const commit = db.prepare('commit');
  return (work: Work) => {
    const inTransaction: Work = (...args) => {
      begin.run();
      try {
        const result = work(...args);
        commit.run();
        return result;
      } catch (error) {
        if (db.isTransaction) db.exec('rollback');
        throw error;
      }
    };
    return Object.assign(inTransaction, { immediate: inTransaction });
  };
}
