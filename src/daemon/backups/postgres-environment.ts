import { homedir } from 'node:os';
import { join } from 'node:path';
import { processEnvironment } from '../../config/settings/settings.ts';

/** What the environment of this process says of PostgreSQL, for its programs. */
export function postgresEnvironment(): Record<string, string> {
  const env = processEnvironment();
  const own = Object.entries(env).flatMap(([name, value]): [string, string][] =>
    /^PG[A-Z0-9]+$/.test(name) && value !== undefined ? [[name, value]] : [],
  );
  // A run has another home directory than the daemon.
  return { PGPASSFILE: join(homedir(), '.pgpass'), ...Object.fromEntries(own) };
}
