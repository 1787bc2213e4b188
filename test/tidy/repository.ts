/** Rules for the files of the repository as such: names, sizes, places, pairs, dependencies. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Finding, TextFile } from './source.ts';

/** A file as found: `text` is undefined when it is binary. */
export interface RepositoryFile {
  readonly path: string;
  readonly sizeBytes: number;
  readonly text: string | undefined;
}

/** All files below `root` that .gitignore does not name, sorted by path. */
export function repositoryFiles(root: string): RepositoryFile[] {
  const ignored = readFileSync(join(root, '.gitignore'), 'utf8')
    .split('\n')
    .filter((line) => line !== '');
  const isIgnored = (name: string): boolean =>
    name === '.git' ||
    ignored.some((line) => (line.startsWith('*') ? name.endsWith(line.slice(1)) : name === line.replace(/\/$/, '')));
  const paths: string[] = [];
  const look = (directory: string): void => {
    for (const entry of readdirSync(join(root, directory), { withFileTypes: true })) {
      const path = directory === '' ? entry.name : `${directory}/${entry.name}`;
      if (isIgnored(entry.name)) continue;
      if (entry.isDirectory()) look(path);
      else if (entry.isFile()) paths.push(path);
    }
  };
  look('');
  return paths.toSorted().map((path) => {
    const bytes = readFileSync(join(root, path));
    return { path, sizeBytes: bytes.length, text: bytes.includes(0) ? undefined : bytes.toString('utf8') };
  });
}

const VAGUE = /^(utils?|helpers?|commons?|managers?)$/i;

export const VAGUE_NAME_WHY =
  'A name that says nothing collects everything: call the file after the one thing that is in it.';

export function vagueName(path: string): Finding[] {
  const words = path.split(/[/._-]|(?<=[a-z])(?=[A-Z])/);
  const vague = words.find((word) => VAGUE.test(word));
  return vague === undefined ? [] : [{ path, what: `has "${vague}" in its name` }];
}

/** Folders of the machines that it is built on, as the beginning of a path. */
const PRIVATE_PATH = /(^|[^a-z0-9._~$}-])\/(work|farm)\//gim;

export const PRIVATE_PATH_WHY = 'A path of one machine is wrong on every other, and reveals what no reader needs.';

export function privatePath({ path, text }: TextFile): Finding[] {
  return [...text.matchAll(PRIVATE_PATH)].map((match) => ({
    path,
    line: text.slice(0, match.index).split('\n').length,
    what: `names a private path: ${
      text
        .slice(match.index, match.index + 40)
        .trim()
        .split('\n')[0] ?? ''
    }`,
  }));
}

export const BINARY_BYTES_MAX = 200 * 1024;
export const BINARY_WHY =
  'Every clone carries a binary for ever; one this large is made by a script or fetched by a package instead.';

export function largeBinary({ path, sizeBytes, text }: RepositoryFile): Finding[] {
  const isLarge = text === undefined && sizeBytes > BINARY_BYTES_MAX;
  return isLarge ? [{ path, what: `is a binary of ${sizeBytes} bytes, at most ${BINARY_BYTES_MAX} are allowed` }] : [];
}

export const MIGRATIONS_WHY =
  'Both databases are at the same step by the same name, so that one number says what a schema is, and one ' +
  'list tests both.';

const MIGRATION = /^migrations\/(sqlite|postgres)\/((\d{4})_[a-z0-9_]+\.sql)$/;

/** Of all paths of the repository. */
export function unpairedMigrations(paths: readonly string[]): Finding[] {
  const found: Finding[] = [];
  const names = { sqlite: new Set<string>(), postgres: new Set<string>() };
  for (const path of paths.filter((each) => each.startsWith('migrations/') && each.endsWith('.sql'))) {
    const [, folder, name] = MIGRATION.exec(path) ?? [];
    if (name === undefined) found.push({ path, what: 'is not migrations/{sqlite,postgres}/NNNN_name.sql' });
    else names[folder === 'sqlite' ? 'sqlite' : 'postgres'].add(name);
  }
  for (const name of names.sqlite.symmetricDifference(names.postgres)) {
    const [has, lacks] = names.sqlite.has(name) ? ['sqlite', 'postgres'] : ['postgres', 'sqlite'];
    found.push({ path: `migrations/${has}/${name}`, what: `has no partner migrations/${lacks}/${name}` });
  }
  for (const [folder, list] of Object.entries(names)) {
    [...list].toSorted().forEach((name, index) => {
      const expected = String(index + 1).padStart(4, '0');
      if (!name.startsWith(expected))
        found.push({ path: `migrations/${folder}/${name}`, what: `is where number ${expected} is expected` });
    });
  }
  return found;
}

export const REGISTRY_WHY =
  'The lock names versions and their digests, not the server they came from: each clone uses its own registry.';

/** Of a package-lock.json and .npmrc. */
export function namedRegistry({ path, text }: TextFile): Finding[] {
  const found = text
    .split('\n')
    .flatMap((line, index) => (/"resolved"\s*:|^\s*(@[^:]+:)?registry\s*=/.test(line) ? [index + 1] : []));
  return found.map((line) => ({ path, line, what: 'names a registry host' }));
}

export const VERSION_WHY = 'A report of a fault names the version; all places that have one must have the same.';

/** Of package.json or package-lock.json, against the constant in src/version.ts. */
export function versionMismatch({ path, text }: TextFile, versionSource: string): Finding[] {
  const version = /VERSION = '([^']*)'/.exec(versionSource)?.[1];
  const said = (JSON.parse(text) as { version?: unknown }).version;
  return version !== undefined && said === version
    ? []
    : [{ path, what: `says ${String(said)}, src/version.ts says ${String(version)}` }];
}

export const DEPENDENCIES_MAX = 16;
export const DEPENDENCIES_WHY =
  'A dependency is code that we answer for: exact, so that it changes when we say so; few; and each with its ' +
  'reason in docs/decisions.';

const EXACT = /^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/;

/** A reason is at least this many words beside the name. */
const REASON_WORDS_MIN = 5;

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

/** Of package.json and all lines of docs/decisions. */
export function dependencies({ path, text }: TextFile, decisionLines: readonly string[]): Finding[] {
  const manifest = JSON.parse(text) as Manifest;
  const runtime = { ...manifest.dependencies, ...manifest.optionalDependencies };
  const found: Finding[] = [];
  for (const [name, version] of Object.entries({ ...runtime, ...manifest.devDependencies })) {
    if (!EXACT.test(version)) found.push({ path, what: `asks for ${name} ${version}, which is not one exact version` });
  }
  const names = Object.keys(runtime);
  if (names.length > DEPENDENCIES_MAX)
    found.push({ path, what: `has ${names.length} runtime dependencies, at most ${DEPENDENCIES_MAX} are allowed` });
  for (const name of names) {
    const isReasoned = decisionLines.some(
      (line) => line.includes(`\`${name}\``) && line.split(/\s+/).length > REASON_WORDS_MIN,
    );
    if (!isReasoned)
      found.push({ path, what: `has the runtime dependency ${name} without a line of reason in docs/decisions` });
  }
  return found;
}
