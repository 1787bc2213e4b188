/**
 * Stores with the whole schema, which `npm test` makes once for all tests: to apply all migrations takes 50 ms of a
 * processor, and a test that begins with a copy takes 5. A file that is run alone applies them itself.
 */
import { chmodSync, copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../../src/lib/clock.ts';
import { openStore } from '../../../src/store/store.ts';
import { freshDatabase, type FreshDatabase, POSTGRES_TEMPLATE_VARIABLE } from '../postgres/postgres.ts';
import { testKeyring } from '../seal.ts';

/** Where the SQLite file is that tests copy. */
const SQLITE_VARIABLE = 'GATEHOUSE_TEST_STORE';

/** Puts a store with the whole schema at `file`, if there is one to copy; else who opens the file makes it. */
export function placeStore(file: string): string {
  const template = process.env[SQLITE_VARIABLE];
  if (template !== undefined) {
    copyFileSync(template, file);
    chmodSync(file, 0o600);
  }
  return file;
}

/** Makes the templates; the variables that tell tests of them. The file is below `folder`. */
export async function makeTemplates(folder: string): Promise<Readonly<Record<string, string>>> {
  const file = join(folder, 'template.db');
  const database = await freshDatabase();
  for (const location of [{ file }, { url: database.url }]) {
    const store = await openStore({ location, clock: systemClock, daemonId: 'dmn_template', keyring: testKeyring });
    await store.close();
  }
  return { [SQLITE_VARIABLE]: file, [POSTGRES_TEMPLATE_VARIABLE]: nameOf(database) };
}

function nameOf({ url }: FreshDatabase): string {
  return new URL(url).pathname.slice(1);
}
