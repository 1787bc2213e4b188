/**
 * Named servers: one file each in `$XDG_CONFIG_HOME/gatehouse/contexts`, so that two commands at once lose nothing, and
 * a file with the name of the one in use. They say where a token is, and never hold one.
 */
import { constants } from 'node:fs';
import { lstat, open, readdir } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import type { Environment } from '../../../config/settings/settings.ts';
import { Failure } from '../../../domain/failure.ts';
import { NAME } from '../../../domain/name.ts';
import { errorCode } from '../../../lib/error-code.ts';
import { openingForRoot, openingText } from '../../../lib/files/closed.ts';

/** Where the token of a context is: a file by its absolute path, or an environment variable by its name. */
export type TokenPlace = { readonly file: string } | { readonly variable: string };

export interface Context {
  readonly name: string;
  /** Base URL, without a slash at its end. */
  readonly url: string;
  readonly token: TokenPlace;
}

/** The name that means this machine's own data directory. */
export const LOCAL = 'local';

const OTHERS = 0o077;
const FILE_BYTES_MAX = 8_192;
export const CONTEXTS_MAX = 200;

export interface Place {
  readonly dir: string;
  /** Holds the name of the context in use. */
  readonly current: string;
}

/** Null if the environment names no home. */
export function placeOf({ XDG_CONFIG_HOME: config = '', HOME: home = '' }: Environment): Place | null {
  // The XDG rules: a relative path is ignored.
  const base = isAbsolute(config) ? config : isAbsolute(home) ? join(home, '.config') : null;
  return base === null
    ? null
    : { dir: join(base, 'gatehouse', 'contexts'), current: join(base, 'gatehouse', 'context') };
}

export function fileOf({ dir }: Place, name: string): string {
  return join(dir, `${name}.json`);
}

/** Throws invalid_argument, also for the reserved name. */
export function requireName(name: string): void {
  if (!NAME.test(name) || name === LOCAL)
    throw new Failure('invalid_argument', `name: expected ${NAME.source}, and not ${LOCAL}.`);
}

/** The name of the context in use; null if it is this machine. */
export async function currentName(env: Environment): Promise<string | null> {
  const place = placeOf(env);
  const name = place === null ? null : (await readPrivate(place.current))?.trim();
  return name === undefined || name === null || name === '' || name === LOCAL ? null : name;
}

/** Throws not_found, and invalid_argument for a file that this program did not write or others may change. */
export async function readContext(env: Environment, name: string): Promise<Context> {
  const place = placeOf(env);
  // A name that is no name is no path either.
  const text = place === null || !NAME.test(name) ? null : await readPrivate(fileOf(place, name));
  if (text === null) throw new Failure('not_found', `There is no context ${JSON.stringify(name)}.`);
  const context = parse(name, text);
  if (context === null) {
    const repair = `svc context remove ${name}`;
    throw new Failure('invalid_argument', `The file of the context ${name} is damaged; add it again after ${repair}.`);
  }
  return context;
}

/** Sorted by name. */
export async function listContexts(env: Environment): Promise<Context[]> {
  const place = placeOf(env);
  const files = place === null ? [] : await readdir(place.dir).catch(absent(() => []));
  const names = files.flatMap((file) => /^(.+)\.json$/.exec(file)?.[1] ?? []).filter((name) => NAME.test(name));
  return Promise.all(
    names
      .toSorted()
      .slice(0, CONTEXTS_MAX)
      .map((name) => readContext(env, name)),
  );
}

/** Null if there is no such file. A user who can change it, or a folder above, can send the token to another server. */
async function readPrivate(path: string): Promise<string | null> {
  if ((await lstat(path).catch(absent(() => null))) === null) return null;
  refuseOpen(path);
  // Without O_NONBLOCK a named pipe would block each verb for ever.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch(absent(() => null));
  if (file === null) return null;
  try {
    const stats = await file.stat();
    if (!stats.isFile()) throw new Failure('invalid_argument', `${path}: is not a file.`);
    const { uid, mode } = stats;
    if ((uid !== 0 && uid !== process.getuid?.()) || (mode & OTHERS) !== 0)
      throw new Failure('invalid_argument', `${path}: must belong to you and have the mode 0600 (chmod 600).`);
    const { bytesRead, buffer } = await file.read({ buffer: Buffer.alloc(FILE_BYTES_MAX), position: 0 });
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}

/** Throws invalid_argument where this process is root and another account can change the path; it may be missing. */
export function refuseOpen(path: string): void {
  const opening = openingForRoot(path, true);
  if (opening !== null) throw new Failure('invalid_argument', `${openingText(opening)}.`);
}

export function absent<T>(otherwise: () => T): (error: unknown) => T {
  return (error) => {
    if (errorCode(error) === 'ENOENT') return otherwise();
    throw error;
  };
}

/** Null if the text is not what `addContext` writes. */
function parse(name: string, text: string): Context | null {
  try {
    const { url, token } = JSON.parse(text) as { url?: unknown; token?: { file?: unknown; variable?: unknown } };
    if (typeof url !== 'string') return null;
    if (typeof token?.file === 'string') return { name, url, token: { file: token.file } };
    return typeof token?.variable === 'string' ? { name, url, token: { variable: token.variable } } : null;
  } catch {
    return null;
  }
}
