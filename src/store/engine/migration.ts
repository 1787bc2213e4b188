import { hash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** A file `0001_name.sql` that changes the schema. */
export interface Migration {
  readonly number: number;
  readonly name: string;
  readonly text: string;
  readonly sha256: string;
}

const FILE = /^(\d{4})_([a-z0-9_]+)\.sql$/;

/** Those of a folder, oldest first. Throws the system's error. */
export function readMigrations(folder: string): readonly Migration[] {
  return readdirSync(folder)
    .filter((file) => FILE.test(file))
    .toSorted()
    .map((file) => {
      const [, number, name] = FILE.exec(file) ?? [];
      const text = readFileSync(join(folder, file), 'utf8');
      return { number: Number(number), name: name ?? '', text, sha256: hash('sha256', text) };
    });
}
