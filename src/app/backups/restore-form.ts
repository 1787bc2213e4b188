import { spawn } from 'node:child_process';
import { open } from 'node:fs/promises';
import { homedir } from 'node:os';
import { postgresEnvironment } from '../../daemon/backups/postgres-environment.ts';
import { processEnvironment, type Settings } from '../../config/settings/settings.ts';
import { Failure } from '../../domain/failure.ts';
import { findProgram } from '../../lib/programs/find-program.ts';
import { finishRestore, openEmptyDatabase } from '../../store/engine/postgres/restore-target.ts';
import type { SnapshotFormat } from '../../store/engine/snapshot.ts';
import type { StoreOptions } from '../../store/store.ts';
import { ownSearchPath } from '../search-path.ts';

/** How the content of a backup becomes a store, by its form. */
interface RestoreForm {
  /** Whether the content is itself the file of the store, in the data directory. */
  readonly isFile: boolean;
  /** Throws Failure where the settings do not fit, or the database is not empty. Writes nothing. */
  check(settings: Settings): Promise<void>;
  /** Makes a store of the content in `file`. No daemon may start on it before `finish`. */
  load(settings: Settings, file: string): Promise<StoreOptions['location']>;
  /** After the store is at rest. */
  finish(settings: Settings, file: string): Promise<void>;
}

export const RESTORE_FORMS: Readonly<Record<SnapshotFormat, RestoreForm>> = {
  sqlite: {
    isFile: true,
    check({ databaseUrl }) {
      if (databaseUrl === null) return Promise.resolve();
      throw new Failure(
        'conflict',
        '--database-url: the backup is of an embedded SQLite store; leave the URL out to restore it into a directory.',
      );
    },
    load: (_settings, file) => Promise.resolve({ file }),
    finish: (_settings, file) => syncFile(file),
  },
  postgres: {
    isFile: false,
    async check(settings) {
      await openEmptyDatabase(urlOf(settings));
      await programOf('pg_restore');
    },
    async load(settings, file) {
      const database = await openEmptyDatabase(urlOf(settings));
      await database.begin();
      await runProgram(database.argv(file), { ...postgresEnvironment(), ...database.environment });
      return { url: urlOf(settings) };
    },
    finish: (settings) => finishRestore(urlOf(settings)),
  },
};

function urlOf({ databaseUrl }: Settings): string {
  if (databaseUrl !== null) return databaseUrl;
  throw new Failure('conflict', '--database-url: the backup is of a PostgreSQL store; name an empty database.');
}

async function programOf(name: string): Promise<string> {
  const found = await findProgram(name, ownSearchPath());
  if (found !== null) return found;
  throw new Failure('unavailable', `${name} is not on the PATH; install the client of PostgreSQL.`);
}

/** Its messages are those of the command line. */
async function runProgram([name = '', ...args]: readonly string[], extra: Record<string, string>): Promise<void> {
  const program = await programOf(name);
  const { HOME: home = homedir() } = processEnvironment();
  const child = spawn(program, args, {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { PATH: ownSearchPath(), HOME: home, LC_ALL: 'C.UTF-8', ...extra },
  });
  const code = await new Promise<number | null>((resolve) => {
    child.once('error', () => resolve(null));
    child.once('close', resolve);
  });
  if (code !== 0)
    throw new Failure(
      'unavailable',
      `${name} ended with ${code ?? 'a signal'}; its messages are above. It has to be as new as the pg_dump that ` +
        'made the backup, and so does the server. Empty the database before you restore again.',
    );
}

async function syncFile(path: string): Promise<void> {
  const file = await open(path, 'r+');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
