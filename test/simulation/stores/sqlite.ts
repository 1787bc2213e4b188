import { copyFileSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import type { Rows } from '../rules/rules.ts';
import type { World } from '../world/world.ts';
import { hexOfBytes, machine, shown, type Stores, type WorldStore } from './store.ts';
import { makeSchema } from './template.ts';

const FILE = 'gatehouse.db';

/** One file, which all daemons of one machine share. */
export async function sqliteStores(home: string): Promise<Stores> {
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const template = join(home, 'template.db');
  await makeSchema({ file: template });
  return {
    open: (world) => Promise.resolve(openFile(world, join(home, String(world.seed)), template)),
    close: () => Promise.resolve(rmSync(home, { recursive: true, force: true })),
  };
}

function openFile(world: World, dataDir: string, template: string): WorldStore {
  rmSync(dataDir, { recursive: true, force: true });
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  copyFileSync(template, join(dataDir, FILE));
  return storeIn(world, dataDir);
}

/** The store that this data directory has; closing removes the directory. */
export function storeIn(world: World, dataDir: string): WorldStore {
  const path = join(dataDir, FILE);
  let eye = openEye(path);
  const kept = new Map<string, StatementSync>();
  const rows: Rows = (sql, ...parameters) => {
    let statement = kept.get(sql);
    if (statement === undefined) kept.set(sql, (statement = eye.prepare(sql)));
    return shown(world, statement.all(...parameters));
  };
  const here = machine('m1');
  return {
    folder: join(dataDir, 'people'),
    rows,
    hasLeases: false,
    machine: here,
    files: {
      path,
      replace(work) {
        eye.close();
        kept.clear();
        work();
        eye = openEye(path);
      },
    },
    machineOf: () => here,
    settingsOf: () => ({ flags: { 'data-dir': dataDir }, databaseUrl: null }),
    noteRows() {
      const tables = rows(
        "select name from sqlite_schema where type = 'table' and name not like 'sqlite_%' order by name",
      );
      for (const { name } of tables)
        for (const row of rows(`select * from "${String(name)}" order by 1`))
          world.note(JSON.stringify(row, hexOfBytes));
    },
    reader: ({ runtime }) => Promise.resolve({ db: runtime.store.db, close: () => Promise.resolve() }),
    close() {
      eye.close();
      return Promise.resolve(rmSync(dataDir, { recursive: true, force: true }));
    },
  };
}

/** It stays open, so that the end of a daemon is as that of its process: no checkpoint is made. */
function openEye(path: string): DatabaseSync {
  const eye = new DatabaseSync(path);
  eye.exec('pragma query_only = on');
  return eye;
}
